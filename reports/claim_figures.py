# SPDX-License-Identifier: Apache-2.0
"""The plot of one claim, from its points alone: curves where a parameter sweeps, one row a point elsewhere."""
import style
from read import strain
from style import CYCLE, INK, MARKERS, MUTED, TIERS, number

MOST_ROWS, MOST_GROUPS = 12, 7


def sweep(points):
    """The numeric parameter to put on the x axis: the one with the most values, at least 4; None where there is none."""
    names = {n for p in points for n in p["params"]}
    numeric = {n: {p["params"][n] for p in points if style.finite(p["params"].get(n))} for n in names}
    best = max(sorted(numeric), key=lambda n: (len(numeric[n]), n in ("d", "t", "T", "n", "C")), default=None)
    return best if best and len(numeric[best]) >= 4 else None


def colour_of(tier, extra={}):
    if tier not in TIERS:
        extra.setdefault(tier, CYCLE[(3 + len(extra)) % len(CYCLE)])
    return TIERS.get(tier) or extra[tier]


def kind(point, x, few):
    """What points on one line have in common: the tier, the texts, and the parameters that take few values."""
    return (point["tier"],) + tuple(sorted((k, v) for k, v in point["params"].items() if k != x and (isinstance(v, str) or k in few)))


def few_valued(points, x):
    """The numeric parameters beside x with two or three values: each value is a line of its own."""
    values = {}
    for p in points:
        for name, value in p["params"].items():
            if name != x and not isinstance(value, str):
                values.setdefault(name, set()).add(value)
    return {name for name, v in values.items() if 2 <= len(v) <= 3}


def swept(claim, points, x):
    groups, few = {}, few_valued(points, x)
    for p in points:
        groups.setdefault(kind(p, x, few), []).append(p)
    largest = sorted(groups, key=lambda g: (g[0] != "paper", -len(groups[g])))[:MOST_GROUPS]
    common = set.intersection(*[set(g[1:]) for g in largest])
    figure = style.new_figure(6.4, 3.2)
    ax = figure.subplots()
    values = []
    for i, key in enumerate(largest):
        mine = sorted(groups[key], key=lambda p: p["params"][x])
        at = [p["params"][x] for p in mine]
        name = ", ".join([key[0], *(f"{k} = {number(v)}" for k, v in key[1:] if (k, v) not in common)])
        colour = CYCLE[i % len(CYCLE)] if len(largest) > 3 else colour_of(key[0])
        one_a_step = len(set(at)) == len(at)
        ax.plot(at, [p["predicted"] for p in mine], "--" if one_a_step else "_", color=colour, markersize=11, linewidth=1.1)
        ax.errorbar(at, [p["measured"] for p in mine], yerr=[p["standard_error"] for p in mine], fmt=MARKERS[i % len(MARKERS)], color=colour,
                    capsize=2.5, label=style.label(name), markerfacecolor="white" if key[0] == "paper" else colour)
        values += [abs(v) for p in mine for v in (p["measured"], p["predicted"])]
    if style.spread_log([p["params"][x] for p in points]):
        ax.set_xscale("log")
    if style.spread_log(values) and all(p["measured"] > 0 and p["predicted"] > 0 for g in largest for p in groups[g]):
        ax.set_yscale("log")
    ax.plot([], [], "--", color=MUTED, label="prediction")
    ax.set_xlabel(x)
    ax.set_ylabel("measured")
    ax.legend(loc="upper center", bbox_to_anchor=(0.45, -0.17), fontsize=7.5, ncol=2)
    return figure


def scale_for(ax, values):
    """An x axis on which values of very different size can all be seen."""
    sizes = sorted(abs(v) for v in values if v)
    if not sizes or sizes[-1] / sizes[0] <= 300:
        return
    if all(v > 0 for v in values):
        ax.set_xscale("log")
    else:
        ax.set_xscale("symlog", linthresh=max(sizes[0], sizes[-1] * 1e-6))


def one_row_a_point(claim, points):
    ranked = sorted(points, key=lambda p: (p["tier"] != "paper", p["verdict"] == "holds", -min(strain(p)[2], 1e300)))
    shown = ranked[:MOST_ROWS]
    figure = style.new_figure(5.2, 0.9 + 0.29 * len(shown))
    ax = figure.subplots()
    for row, p in enumerate(shown):
        colour = colour_of(p["tier"])
        ax.plot([p["predicted"], p["measured"]], [row, row], color=colour, linewidth=1, alpha=0.5)
        ax.plot(p["predicted"], row, {"equal": "|", "at_most": "<", "at_least": ">"}[p["relation"]], color=INK, markersize=9, markeredgewidth=1.6)
        ax.errorbar(p["measured"], row, xerr=p["standard_error"] or None, fmt="o", color=colour, capsize=2.5,
                    markerfacecolor="white" if p["verdict"] == "refuted" else colour)
    scale_for(ax, [v for p in shown for v in (p["measured"], p["predicted"])])
    labels = [f"{p['tier']}: " + (style.params_text(p["params"]) or "the claim itself") for p in shown]
    ax.set_yticks(range(len(shown)), [style.label(t if len(t) < 74 else t[:72] + "…") for t in labels], fontsize=7.5)
    ax.set_ylim(len(shown) - 0.4, -0.6)
    ax.grid(axis="y", visible=False)
    more = f"; {len(points) - len(shown)} more points are in the file" if len(points) > len(shown) else ""
    ax.set_xlabel("measured: dots (hollow where refuted); prediction: bar, bound: triangle" + more, fontsize=8)
    return figure


def claim_figure(claim):
    """The claim's plot, or None without a single finite point."""
    points = [p for p in claim["points"] if style.finite(p["measured"], p["predicted"], p["standard_error"])]
    if not points:
        return None
    x = sweep([p for p in points if p["relation"] == "equal"])
    on_sweep = [p for p in points if x in p["params"]]
    if x and len(on_sweep) * 2 > len(points):
        return swept(claim, on_sweep, x)
    return one_row_a_point(claim, points)


def alt_text(claim):
    worst = max(claim["points"], key=strain)
    return (f"Measured against predicted values of {claim['id']}; the decisive point ({worst['tier']}) measured {number(worst['measured'])}, "
            f"predicted {number(worst['predicted'])}.")
