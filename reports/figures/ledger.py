# SPDX-License-Identifier: Apache-2.0
"""Figures of claims. Each function returns a matplotlib figure drawn from the results, or None if the files have no
data for it."""
from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from reports.figures import style
from reports.figures.claims import law_along
from reports.figures.style import CYCLE, Figure, INK, MARKERS, MUTED, OUTCOMES, ROLES
from reports.records import Claim, Point, Results


def snr_points(claim: Claim) -> list[Point]:
    """Points, except limits, that have a key width d and measure one SNR^-1, not a ratio of two."""
    return [
        p
        for p in claim.points
        if p.role != "limit"
        and p.params.get("quantity", "snr_inverse") == "snr_inverse"
        and "d" in p.params
        and style.finite(p.measured, p.predicted)
        and p.relation == "equal"
    ]


INVERSE_SNR = ("snr_linear", "snr_relu", "snr_exp", "snr_solu", "snr_solu_eq17")  # others: ratios of SNRs


def snr_claims(results: Results) -> list[tuple[Claim, list[Point]]]:
    found = [(c, snr_points(c)) for c in results.claims if c.id in INVERSE_SNR]
    return [(c, points) for c, points in found if len({p.params["d"] for p in points}) > 2]


def per_pair(point: Point, value: float) -> float:
    return value / float(point.params.get("n", 1))


def snr_curves(results: Results) -> Figure | None:
    """SNR^-1 per stored pair as a function of d. The predictions of one role and label are drawn as a line if d
    determines them, else as ticks."""
    claims = snr_claims(results)
    if not claims:
        return None
    most = max(len({(p.role, p.label) for p in points}) for _, points in claims)  # the most entries of a legend
    figure, axes = style.panels(len(claims), 2 if len(claims) < 5 else 3, height=2.7, between=0.9 + 0.21 * most)
    for ax, (claim, points) in zip(axes, claims):
        lines: dict[tuple[str, str], list[Point]] = {}
        for p in points:
            lines.setdefault((p.role, p.label), []).append(p)
        for i, ((role, label), mine) in enumerate(sorted(lines.items(), key=lambda line: line[0][0] != "statement")):
            mine.sort(key=lambda p: p.params["d"])
            d, colour = [p.params["d"] for p in mine], ROLES[role]  # a colour stands for a role in every panel
            law = law_along([replace(p, predicted=per_pair(p, p.predicted)) for p in mine], "d")
            if len(law) > 1:
                ax.plot(list(law), list(law.values()), "--", color=colour, linewidth=1.1)
            else:
                ax.plot(d, [per_pair(p, p.predicted) for p in mine], "_", color=colour, markersize=12)
            ax.errorbar(
                d,
                [per_pair(p, p.measured) for p in mine],
                yerr=[per_pair(p, p.standard_error) for p in mine],
                fmt=MARKERS[i % len(MARKERS)],
                color=colour,
                markerfacecolor="white" if role == "statement" else colour,
                capsize=2.5,
                label=style.label(style.wrapped(f"{role}: {label}" if label else role, 52)),
            )
        ax.set_xscale("log", base=2)
        ax.set_yscale("log")
        ax.set_title(style.label(style.wrapped(f"{claim.id} ({claim.source})", 27)))
        ax.set_xlabel("key width d")
        ax.set_ylabel("inverse SNR per stored pair" if ax.get_subplotspec().is_first_col() else "")
        ax.xaxis.set_major_formatter("{x:.0f}")
        style.below(ax)
    return figure


def paper_error(results: Results) -> Figure | None:
    """|exact / printed - 1| as a function of d, for every statement whose printed form is an approximation that depends
    on d."""
    lines = []
    for claim, points in snr_claims(results):
        printed = sorted(
            (p for p in points if p.role == "statement" and p.predicted),
            key=lambda p: (p.params["d"], p.standard_error),
        )
        for label in dict.fromkeys(p.label for p in printed):
            mine = [p for p in printed if p.label == label]
            steady = [p for p in mine if p.standard_error == 0] or mine
            at_d = {
                p.params["d"]: (abs(p.measured / p.predicted - 1), p.standard_error / abs(p.predicted)) for p in steady
            }
            if len(at_d) > 2:
                name = style.label(style.wrapped(f"{claim.id}: {label}" if label else claim.id, 40))
                lines.append((name, [(d, *values) for d, values in at_d.items()]))
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


def pulls(results: Results) -> Figure | None:
    """The distribution of (measured - predicted) / standard error over the sampled obligations, and the normal
    distribution that it has if the theory is correct."""
    values = [
        (p.measured - p.predicted) / p.standard_error
        for c in results.claims
        for p in c.points
        if p.standard_error > 0
        and p.relation == "equal"
        and p.role == "obligation"
        and style.finite(p.measured, p.predicted)
        and p.tolerance < 6.5 * p.standard_error
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
        ax.axvline(edge, color=OUTCOMES["failed"], linestyle="--", linewidth=1, label="allowed" if edge > 0 else None)
    ax.set_xlabel("(measured − predicted) / standard error")
    ax.set_ylabel("points")
    ax.legend(loc="center left", bbox_to_anchor=(1.01, 0.5))
    return figure


def power(results: Results) -> Figure | None:
    """The sensitivity of the points: the smallest relative error that each sampled equality detects, and how tight each
    bound is."""
    points = [p for c in results.claims for p in c.points]
    points = [p for p in points if style.finite(p.sensitivity) and p.sensitivity > 0]
    sampled = [p.sensitivity for p in points if p.relation == "equal" and p.standard_error > 0]
    tight = [p.sensitivity for p in points if p.relation != "equal"]
    shown = [
        (values, what, "points")
        for values, what in ((sampled, "smallest relative error noticed"), (tight, "measured / bound"))
        if len(values) >= 10
    ]
    if not shown:
        return None
    figure, axes = style.panels(len(shown), 2, height=2.6, between=1.1)
    for ax, (values, what, of) in zip(axes, shown):
        shares = np.clip(values, 1e-4, 10)
        ax.hist(shares, np.logspace(-4, 1, 41), color=CYCLE[0], alpha=0.75, label=f"{len(values)} {of}")
        middle = float(np.median(shares))
        ax.axvline(middle, color=INK, linestyle="--", linewidth=1, label=f"median {style.number(middle, 2)}")
        ax.set_xscale("log")
        ax.set_xlabel(what)
        ax.set_ylabel(of)
        style.below(ax)
    return figure
