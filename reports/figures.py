# SPDX-License-Identifier: Apache-2.0
"""Figures of claims, one function each: results -> a matplotlib figure, or None where the files hold no data for it."""
import math

import numpy as np

import style
from style import CYCLE, INK, MARKERS, MUTED, VERDICTS, words


def outcome(claim):
    """How a claim is coloured: failed, or its verdict."""
    return claim["verdict"] if claim["passed"] else "failed"


def paper_of(claim):
    """The paper a claim's source begins with: "000" of "000 Eq 7, Appendix A"."""
    return claim["source"].split(" ")[0].rstrip(",;:") or "other"


def verdicts_by_paper(results):
    claims = results["claims"]
    if not claims:
        return None
    papers = sorted({paper_of(c) for c in claims})
    figure = style.new_figure(10, 0.9 + 0.42 * len(papers))
    ax = figure.subplots()
    left = np.zeros(len(papers))
    for name, colour in VERDICTS.items():
        counts = np.array([sum(paper_of(c) == p and outcome(c) == name for c in claims) for p in papers])
        if not counts.any():
            continue
        ax.barh(
            papers,
            counts,
            left=left,
            color=colour,
            height=0.62,
            label=f"{words(name)} ({counts.sum()})",
            edgecolor="white",
        )
        for row, count in enumerate(counts):
            if count > 0.02 * len(claims):
                ax.text(
                    left[row] + count / 2,
                    row,
                    str(count),
                    ha="center",
                    va="center",
                    color="white",
                    fontweight="bold",
                    fontsize=8,
                )
        left += counts
    ax.invert_yaxis()
    ax.grid(False)
    ax.set_xlabel("claims")
    ax.set_ylabel("paper")
    ax.legend(ncol=5, loc="lower left", bbox_to_anchor=(0, 1.0), borderaxespad=0.2)
    return figure


def snr_points(claim):
    """The points that measure SNR^-1 itself over the key width d."""
    return [
        p
        for p in claim["points"]
        if p["params"].get("quantity", "snr_inverse") == "snr_inverse"
        and "d" in p["params"]
        and style.finite(p["measured"], p["predicted"])
        and p["relation"] == "equal"
    ]


def snr_claims(results):
    found = [(c, snr_points(c)) for c in results["claims"] if c["id"].startswith("snr_")]
    return [(c, points) for c, points in found if len({p["params"]["d"] for p in points}) > 2][:12]


def per_pair(point, value):
    return value / point["params"].get("n", 1)


def snr_curves(results):
    """SNR^-1 a stored pair against d. Theory is a line where n and dv follow d, a tick at each other point."""
    claims = snr_claims(results)
    if not claims:
        return None
    figure, axes = style.panels(len(claims), 2 if len(claims) < 5 else 3, height=2.7)
    for ax, (claim, points) in zip(axes, claims):
        for tier, label, dash in [
            ("expectation", "exact in expectation", "-"),
            ("paper", "as printed", "--"),
            ("conditional", "given the probe key", ":"),
        ]:
            mine = [p for p in points if p["tier"] == tier]
            colour = style.TIERS[tier]
            on_line = sorted((p for p in mine if p["standard_error"] == 0), key=lambda p: p["params"]["d"])
            ax.plot(
                [p["params"]["d"] for p in on_line],
                [per_pair(p, p["predicted"]) for p in on_line],
                dash,
                color=colour,
                label=f"theory: {label}" if on_line else None,
            )
            if tier == "paper" and any(p["tier"] != "paper" for p in points):
                continue  # the measurements are those of the exact tier
            sampled = [p for p in mine if p["standard_error"] > 0]
            if on_line:
                ax.plot(
                    [p["params"]["d"] for p in on_line],
                    [per_pair(p, p["measured"]) for p in on_line],
                    "D",
                    color=colour,
                    markersize=3.5,
                    label="measured: quadrature",
                )
            if sampled:
                d = np.array([p["params"]["d"] for p in sampled])
                ax.plot(
                    d,
                    [per_pair(p, p["predicted"]) for p in sampled],
                    "_",
                    color=colour,
                    markersize=13,
                    markeredgewidth=1.2,
                    label=f"theory: {label}, at the n and dv sampled",
                )
                ax.errorbar(
                    d,
                    [per_pair(p, p["measured"]) for p in sampled],
                    yerr=[per_pair(p, p["standard_error"]) for p in sampled],
                    fmt="s" if tier == "conditional" else "o",
                    color=colour,
                    markerfacecolor="white",
                    capsize=2.5,
                    label=f"measured: sampled, {'given' if tier == 'conditional' else 'over'} the probe (± 1 s.e.)",
                )
        ax.set_xscale("log", base=2)
        ax.set_yscale("log")
        ax.set_title(style.label(f"{claim['id']} ({claim['source']})"))
        ax.set_xlabel("key width d")
        ax.set_ylabel("inverse SNR a stored pair")
        ax.xaxis.set_major_formatter("{x:.0f}")
    handles = {}
    for ax in axes:
        handles.update({label: handle for handle, label in zip(*ax.get_legend_handles_labels())})
    figure.legend(handles.values(), handles.keys(), loc="lower left", bbox_to_anchor=(0.1, 0.93), ncol=2)
    return figure


def paper_error(results):
    """|exact / printed - 1| against d, for every claim whose printed form is an approximation in d."""
    lines = []
    for claim, points in snr_claims(results):
        printed = sorted(
            (p for p in points if p["tier"] == "paper" and p["predicted"]),
            key=lambda p: (p["params"]["d"], p["standard_error"]),
        )
        steady = [p for p in printed if p["standard_error"] == 0] or printed
        pairs = [
            (p["params"]["d"], abs(p["measured"] / p["predicted"] - 1), p["standard_error"] / abs(p["predicted"]))
            for p in steady
        ]
        if len({d for d, _, _ in pairs}) > 2:
            lines.append((claim["id"], pairs))
    if not lines:
        return None
    figure = style.new_figure(8.5, 3.8)
    ax = figure.subplots()
    for i, (id, pairs) in enumerate(lines):
        d, error, spread = map(np.array, zip(*pairs))
        colour = CYCLE[i % len(CYCLE)]
        ax.errorbar(
            d,
            error,
            yerr=spread if spread.any() else None,
            color=colour,
            marker=MARKERS[i % len(MARKERS)],
            capsize=2.5,
            label=id,
            linestyle="-" if i < len(CYCLE) else "--",
            markersize=max(3.5, 9 - 2 * i),
            markerfacecolor="white",
        )
    ax.axhline(1, color=MUTED, linewidth=0.8, linestyle=":")
    ax.annotate(
        "off by as much as the value itself",
        (1, 1),
        xycoords=("axes fraction", "data"),
        ha="right",
        va="bottom",
        color=MUTED,
        fontsize=7.5,
    )
    ax.set_xscale("log", base=2)
    ax.set_yscale("log")
    ax.xaxis.set_major_formatter("{x:.0f}")
    ax.set_xlabel("key width d")
    ax.set_ylabel("|measured / printed − 1|")
    ax.legend(loc="center left", bbox_to_anchor=(1.01, 0.5))
    return figure


def pulls(results):
    """Sampled obligations: (measured - predicted) / standard error, beside the normal law that a right theory gives."""
    values = [
        (p["measured"] - p["predicted"]) / p["standard_error"]
        for c in results["claims"]
        for p in c["points"]
        if p["standard_error"] > 0
        and p["relation"] == "equal"
        and p["tier"] != "paper"
        and style.finite(p["measured"], p["predicted"])
        and p["tolerance"] < 6.5 * p["standard_error"]
    ]  # a wider tolerance allows for a known bias
    if len(values) < 10:
        return None
    figure = style.new_figure(6.5, 3.0)
    ax = figure.subplots()
    edges = np.arange(-7, 7.01, 0.5)
    ax.hist(np.clip(values, -6.99, 6.99), edges, color=CYCLE[0], alpha=0.75, label=f"{len(values)} sampled obligations")
    x = np.linspace(-7, 7, 281)
    ax.plot(x, 0.5 * len(values) * np.exp(-x * x / 2) / math.sqrt(2 * math.pi), color=INK, label="normal law")
    for edge in (-6.47, 6.47):
        ax.axvline(edge, color=VERDICTS["failed"], linestyle="--", linewidth=1, label="allowed" if edge > 0 else None)
    ax.set_xlabel("(measured − predicted) / standard error")
    ax.set_ylabel("points")
    ax.legend(loc="center left", bbox_to_anchor=(1.01, 0.5))
    return figure
