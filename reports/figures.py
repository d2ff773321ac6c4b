# SPDX-License-Identifier: Apache-2.0
"""The figures of the report, one function each: results -> a matplotlib figure, or None where the files hold no data for it."""
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
    """SNR^-1 a stored pair against d: measured points, each theory tier as a line where n and dv follow d, as a tick elsewhere."""
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
                    label=f"measured: sampled, {'given the probe' if tier == 'conditional' else 'over the probe too'} (± 1 s.e.)",
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


def binned(values, bins=100, logarithmic=False):
    """(steps, values) of a long curve as the means of at most `bins` runs of steps; geometric means where asked."""
    values = np.asarray(values, float)
    edges = np.unique(np.linspace(0, len(values), min(bins, len(values)) + 1).astype(int))
    if logarithmic:
        values = np.log(np.maximum(values, 1e-300))
    means = np.add.reduceat(values, edges[:-1]) / np.diff(edges)
    return (edges[:-1] + edges[1:] - 1) / 2 + 1, np.exp(means) if logarithmic else means


def curves(cases, name, logarithmic):
    """Each variant's curve: the mean over its cases (seeds, forms) of equal length, then binned; and its family."""
    by_variant = {}
    for case in cases:
        if name in case["series"]:
            by_variant.setdefault((case["family"], case["variant"]), []).append(case["series"][name])
    found = {}
    for key, list_ in by_variant.items():
        longest = max(map(len, list_))
        found[key] = binned(np.mean([c for c in list_ if len(c) == longest], axis=0), logarithmic=logarithmic)
    return found


def below(ax, **legend):
    """A legend under the panel, where it hides nothing."""
    ax.legend(
        loc="upper left",
        bbox_to_anchor=(-0.05, -0.2),
        fontsize=7.5,
        handlelength=1.4,
        labelspacing=0.25,
        columnspacing=1,
        **legend,
    )


def by_family(results, task, series, ylabel, logarithmic=False, baseline=None, most=7):
    """Small multiples by family, at most `most` variants a panel; behind them the middle 80% and the median of all variants."""
    cases = [c for c in results["cases"] if c["task"] == task and c["status"] == "ok"]
    found = next((f for f in (curves(cases, s, logarithmic) for s in series) if f), None)
    if not found:
        return None
    families = {}
    for family, variant in found:
        families.setdefault(family, []).append(variant)
    groups = []
    for family, variants in sorted(families.items()):
        parts = -(-len(variants) // most)
        size = -(-len(variants) // parts)
        for i in range(parts):
            groups.append(
                (
                    family,
                    f"{family} ({i + 1} of {parts})" if parts > 1 else family,
                    sorted(variants)[i * size : (i + 1) * size],
                )
            )
    ground = curves(cases, baseline, logarithmic) if baseline else {}
    columns = 3 if len(groups) > 2 else 2
    figure, axes = style.panels(len(groups), columns, height=2.3, between=1.45, sharey=True)
    length = min(len(y) for _, y in found.values())
    middle = np.quantile([y[:length] for _, y in found.values()], [0.1, 0.5, 0.9], axis=0)
    steps = next(x for x, y in found.values() if len(y) == length)
    for ax, (family, title, variants) in zip(axes, groups):
        if len(found) > 4:
            ax.fill_between(steps, middle[0], middle[2], color="#e9ecef", linewidth=0, zorder=1)
            ax.plot(steps, middle[1], color="#aeb6be", linewidth=1, zorder=1)
        for i, variant in enumerate(variants):
            x, y = found[family, variant]
            ax.plot(
                x, y, color=CYCLE[i % len(CYCLE)], label=variant, zorder=3, linewidth=3.4 - 0.4 * i
            )  # equal curves show as stripes
        if ground:
            x, y = next(iter(ground.values()))
            ax.plot(x, y, color=INK, linewidth=1, linestyle="--", label="baseline", zorder=2)
        if logarithmic:
            ax.set_yscale("log")
        ax.set_title(title)
        ax.set_xlabel("step")
        ax.set_ylabel(ylabel if ax in axes[::columns] else "")
        below(ax, ncol=2)
    return figure


def swap_accuracy(results):
    return by_family(results, "swap", ["state_accuracy_by_step", "accuracy_by_step"], "share of states wholly right")


def regression_loss(results):
    return by_family(
        results, "online_regression", ["loss_by_step"], "squared error", logarithmic=True, baseline="naive_by_step"
    )


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


def equivalence(results, id="chunk_equals_recurrent"):
    """Error of every fast form against its recurrence over the chunk length C: the worst over T, small multiples by family."""
    points = [
        p
        for c in results["claims"]
        if c["id"] == id
        for p in c["points"]
        if "C" in p["params"] and "variant" in p["params"]
    ]
    if not points:
        return None
    family_of = {c["variant"]: c["family"] for c in results["cases"]}
    curves_, bound = {}, {}
    for p in points:
        v, C, real = p["params"]["variant"], p["params"]["C"], p["params"].get("real", "f64")
        key = (family_of.get(v, "every variant"), v, p["params"].get("form", ""), real)
        mine = curves_.setdefault(key, {})
        mine[C] = max(mine.get(C, 0.0), p["measured"])
        limit = bound.setdefault((key[0], real), {})
        limit[C] = max(limit.get(C, 0.0), p["predicted"] + p["tolerance"])
    families = sorted({key[0] for key in curves_})
    figure, axes = style.panels(len(families), 3 if len(families) > 2 else 2, height=2.4, between=1.5, sharey=True)
    floor = 1e-18  # a log axis has no zero: exact agreement is drawn here
    for ax, family in zip(axes, families):
        for real, colour in [("f32", CYCLE[1]), ("f64", CYCLE[0])]:
            mine = {k: v for k, v in curves_.items() if k[0] == family and k[3] == real}
            if not mine:
                continue
            worst = max(mine, key=lambda k: max(mine[k].values()))
            for key, errors in mine.items():
                C = sorted(errors)
                ax.plot(
                    C,
                    [max(errors[c], floor) for c in C],
                    color=colour,
                    marker="o" if key == worst else None,
                    markersize=3,
                    linewidth=1.6 if key == worst else 0.6,
                    alpha=1 if key == worst else 0.45,
                    label=f"{real}: worst is {worst[1]} ({worst[2]}) of {len(mine)}" if key == worst else None,
                )
            C = sorted(bound[family, real])
            ax.plot(
                C,
                [bound[family, real][c] for c in C],
                color=colour,
                linestyle=":",
                linewidth=1,
                label=f"{real}: loosest bound",
            )
        ax.set_xscale("log", base=2)
        ax.set_yscale("log")
        ax.xaxis.set_major_formatter("{x:.0f}")
        ax.set_title(family)
        ax.set_xlabel("chunk length C")
        ax.set_ylabel("largest error" if ax in axes[:: 3 if len(families) > 2 else 2] else "")
        below(ax)
    return figure


def bound_used(results, id="chunk_equals_recurrent", most=40):
    """Share of its rounding bound that each fast form used, the nearest to the bound first."""
    used = {}
    for c in results["claims"]:
        for p in c["points"] if c["id"] == id else []:
            if "variant" in p["params"] and p["tolerance"] > 0 and style.finite(p["measured"]):
                key = (
                    f"{p['params']['variant']} {p['params'].get('form', '')}".strip(),
                    p["params"].get("real", "f64"),
                )
                used[key] = max(used.get(key, 0.0), abs(p["measured"] - p["predicted"]) / p["tolerance"])
    if not used:
        return None
    names = sorted({n for n, _ in used}, key=lambda n: -max(used.get((n, r), 0) for r in ("f32", "f64")))
    shown = names[:most]
    figure = style.new_figure(8.5, 1.1 + 0.2 * len(shown))
    ax = figure.subplots()
    for real, colour, marker in [("f32", CYCLE[1], "s"), ("f64", CYCLE[0], "o")]:
        rows = [i for i, n in enumerate(shown) if (n, real) in used]
        ax.plot([max(used[shown[i], real], 1e-8) for i in rows], rows, marker, color=colour, label=real)
    ax.axvline(1, color=VERDICTS["failed"], linestyle="--", linewidth=1, label="bound")
    ax.set_xscale("log")
    ax.set_yticks(range(len(shown)), shown)
    ax.invert_yaxis()
    ax.set_xlabel(
        "error / bound" + (f"; {len(names) - most} more forms stay further below" if len(names) > most else "")
    )
    ax.legend(loc="lower right")
    return figure
