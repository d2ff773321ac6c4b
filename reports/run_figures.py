# SPDX-License-Identifier: Apache-2.0
"""Figures of runs: accuracy against load with theory, against cost with its Pareto front, capacities, any sweep."""
import math
import textwrap

import cells as cells_
import numpy as np
import style
from style import CYCLE, INK, MUTED

T_95 = [12.71, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262]  # Student's t, two-sided, 1 ... 9 degrees


def interval(cell):
    """Half the width of the mean's 95% interval over seeds; 0 for one seed."""
    n = len(cell["values"])
    return 0.0 if n < 2 else (T_95[n - 2] if n <= 10 else 2.1) * cell["error"]


def bars(line):
    """Standard errors along a line of (x, cell); 0 where one seed has none."""
    return [c["error"] if math.isfinite(c["error"]) else 0.0 for _, c in line]


def said(cells):
    """ "5 seeds, bars: ± 1 standard error"."""
    counts = sorted({c["count"] for c in cells})
    seeds = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    return f"{seeds} seed{'s' if seeds != '1' else ''} a mark"


def ok(cells):
    return [c for c in cells if c["status"] == "ok" and math.isfinite(c["mean"])]


def linear_memory_accuracy(n, d, dv):
    """Of the read of n random unit keys with Gaussian values, decoded by the largest inner product, when all of its terms
    are taken as Gaussian and independent: the right value scores dv (1 + ...), each wrong one the crosstalk."""
    z, weight = np.polynomial.hermite_e.hermegauss(40)
    crosstalk = (n - 1) / d
    right = dv + math.sqrt(dv * (2 + crosstalk)) * z
    wrong = math.sqrt(dv * (1 + crosstalk) + dv * (dv + 1) / d)
    below = np.array([0.5 * math.erfc(-x / wrong / math.sqrt(2)) for x in right])
    return float(np.sum(weight * below ** (n - 1)) / np.sum(weight))


def by_load(cells):
    """Accuracy against n / d, a line a layer, the theory of the linear memory and chance over them; None without a sweep."""
    mine = [c for c in ok(cells) if c["task"] == "recall" and {"n", "d", "dv"} <= set(c["params"].get("recall", {}))]
    groups = {}
    for c in mine:
        p = c["params"]["recall"]
        groups.setdefault((p["d"], p["dv"]), []).append((p["n"] / p["d"], c))
    groups = {k: v for k, v in groups.items() if len({x for x, _ in v}) > 2}
    if not groups:
        return None
    figure, axes = style.panels(len(groups), 2, height=3.2, between=0.9)
    for ax, ((d, dv), points) in zip(axes, sorted(groups.items())):
        for variant in sorted({c["variant"] for _, c in points}):
            line = sorted((x, c) for x, c in points if c["variant"] == variant)
            ax.errorbar([x for x, _ in line], [c["mean"] for _, c in line], yerr=bars(line),
                        capsize=2, label=variant, **style.look(variant))  # fmt: skip
        loads = np.geomspace(min(x for x, _ in points), max(x for x, _ in points), 60)
        ax.plot(loads, [linear_memory_accuracy(x * d, d, dv) for x in loads], color=INK, linestyle=(0, (5, 2)),
                linewidth=1.2, label="theory: linear memory")  # fmt: skip
        ax.plot(loads, 1 / (loads * d), color=MUTED, linestyle=":", linewidth=1, label="chance 1/n")
        ax.axvline(1, color=MUTED, linewidth=0.8)
        ax.annotate("n = d", (1, 0.02), xycoords=("data", "axes fraction"), fontsize=7.5, color=MUTED)
        ax.set_xscale("log", base=2)
        ax.xaxis.set_major_formatter("{x:g}")
        ax.set_xlabel("stored pairs a key channel, n / d")
        ax.set_ylabel("accuracy of the last read")
        ax.set_title(f"d = {d}, dv = {dv}; {said([c for _, c in points])}, ± 1 s.e.")
        style.beside(ax)
    return figure


def against_cost(cells):
    """The headline against state bytes a head and against flops a token, the Pareto front drawn and named."""
    mine = [c for c in ok(cells) if c["direction"] and c["state_bytes"] > 0 and c["flops"] > 0]
    if len(mine) < 4:
        return None
    figure, axes = style.panels(2, 2, height=3.4, between=0.7)
    direction, headline = mine[0]["direction"], mine[0]["headline"]
    for ax, cost, label in zip(axes, ("state_bytes", "flops"), ("state, bytes a head", "flops a token and head")):
        points = [(c[cost], c["mean"]) for c in mine]
        ax.errorbar([x for x, _ in points], [y for _, y in points], yerr=[interval(c) for c in mine], fmt="o",
                    color=CYCLE[0], alpha=0.55, markersize=4, elinewidth=0.8)  # fmt: skip
        front = cells_.pareto(points, direction)
        ax.plot([points[i][0] for i in front], [points[i][1] for i in front], color=CYCLE[1], drawstyle="steps-post",
                linewidth=1.3, label="Pareto front")  # fmt: skip
        for number, i in enumerate(front, 1):  # named below the axis, where names have room
            ax.annotate(str(number), points[i], textcoords="offset points", xytext=(-3, 4 * direction), fontsize=7.5,
                        color=CYCLE[1], ha="right", va="bottom" if direction > 0 else "top")  # fmt: skip
        named = textwrap.fill(",  ".join(f"{n} {mine[i]['variant']}" for n, i in enumerate(front, 1)), 56)
        share = mine[0]["ceiling"] == 1  # of right answers: from 0 to 1
        positive = all(y > 0 for _, y in points) and max(y for _, y in points) > 30 * min(y for _, y in points)
        logarithmic = positive and not share
        if logarithmic:
            ax.set_yscale("log")
        for end, name in ((mine[0]["chance"], "chance"), (mine[0]["ceiling"], "best")):
            if math.isfinite(end) and (end > 0 or not logarithmic):  # a log axis has no zero
                ax.axhline(end, color=MUTED, linewidth=0.8, linestyle=":")
                ax.annotate(name, (1, end), xycoords=("axes fraction", "data"), fontsize=7, color=MUTED, ha="right",
                            va="bottom")  # fmt: skip
        ax.set_xscale("log")
        ax.set_xlabel(f"{label}\n{named}")
        ax.set_ylabel(style.words(headline))
        ax.margins(x=0.12, y=0.12)
    return figure


def capacities(cells):
    """n at 99% accuracy with its 95% interval over seeds, the best first; marks at the right edge reached the largest n."""
    mine = [c for c in ok(cells) if c["task"] == "capacity"]
    if len(mine) < 2:
        return None
    mine.sort(key=lambda c: c["mean"])
    figure = style.new_figure(8, 0.9 + 0.19 * len(mine))
    ax = figure.subplots()
    for y, c in enumerate(mine):
        capped = c["mean"] >= c["ceiling"]
        ax.errorbar(max(c["mean"], 0.8), y, xerr=interval(c) or None, fmt=">" if capped else "o", color=CYCLE[1] if capped else CYCLE[0],
                    capsize=2, markersize=4)  # fmt: skip
    ax.set_yticks(range(len(mine)), [c["variant"] for c in mine], fontsize=7)
    d = mine[0]["params"]["capacity"].get("d", 1)
    ax.axvline(d, color=MUTED, linewidth=0.8, linestyle="--")
    ax.annotate(f" n = d = {d}", (d, 0.01), xycoords=("data", "axes fraction"), fontsize=7.5, color=MUTED)
    ax.set_xscale("log", base=2)
    ax.xaxis.set_major_formatter("{x:g}")
    ax.set_xlabel(f"pairs recalled with 99% accuracy; 95% interval over seeds, {said(mine)}; triangles: at least")
    ax.set_ylim(-0.8, len(mine) - 0.2)
    return figure


def experiment(cells):
    """One experiment that sweeps: its longest numeric parameter along x, panels over the next two, a line a layer (and
    whatever else varies). None where nothing numeric varies."""
    mine = ok(cells)
    axes_of = cells_.varying(mine)
    numeric = [n for n, v in axes_of.items() if all(isinstance(x, (int, float)) for x in v) and len(v) > 1]
    if not mine or not numeric:
        return None
    x = max(numeric, key=lambda n: len(axes_of[n]))
    rest = sorted((n for n in axes_of if n != x), key=lambda n: len(axes_of[n]))
    across, within = rest[:2], rest[2:]
    panels = {}
    for c in mine:
        s = cells_.settings(c)
        panels.setdefault((c["task"], *(str(s.get(n, "")) for n in across)), []).append((s, c))
    panels = dict(list(sorted(panels.items()))[:12])
    figure, axes = style.panels(len(panels), 3, height=2.4, between=1.5)
    for ax, (key, points) in zip(axes, panels.items()):
        lines = {}
        for s, c in points:
            name = " ".join([c["variant"], *(f"{n.split('.')[-1]}={s[n]}" for n in within if n in s)])
            lines.setdefault(name, []).append((s.get(x, math.nan), c))
        for name, line in sorted(lines.items())[:8]:
            line.sort(key=lambda p: p[0])
            ax.errorbar([p for p, _ in line], [c["mean"] for _, c in line], yerr=bars(line),
                        capsize=2, label=style.label(name), **style.look(name))  # fmt: skip
        values = [c["mean"] for _, c in points]
        if style.spread_log([p for p in axes_of[x]]):
            ax.set_xscale("log", base=2)
            ax.xaxis.set_major_formatter("{x:g}")
        if style.spread_log(values) and points[0][1]["direction"] <= 0:
            ax.set_yscale("log")
        title = ", ".join([key[0], *(f"{n.split('.')[-1]} = {v}" for n, v in zip(across, key[1:]))])
        ax.set_title(style.label(style.wrapped(title, 34)))
        ax.set_xlabel(x)
        ax.set_ylabel(style.words(points[0][1]["headline"]))
        style.below(ax, ncol=2)
    return figure
