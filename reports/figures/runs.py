# SPDX-License-Identifier: Apache-2.0
"""Figures of runs: accuracy as a function of load, with the theory; accuracy as a function of cost, with the Pareto
front; capacities; sweeps."""
from __future__ import annotations

import dataclasses
import math
import textwrap
from typing import Any, Sequence

import numpy as np

from reports import cells as cells_, matrix, ranks
from reports.figures import style
from reports.figures.style import CYCLE, Figure, INK, MUTED
from reports.records import Cell, Results

Panel = tuple[str, list[tuple[tuple[str, str], list[Cell]]]]  # title, [((layer, name of a line), its cells)]

MOST_PANELS, MOST_LINES = 12, 12  # per figure; per panel
T_95 = [12.71, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262]  # Student's t, two-sided, 1 ... 9 degrees


def interval(cell: Cell) -> float:
    """Half the width of the 95% confidence interval of the mean over seeds; 0 for one seed."""
    n = len(cell.values)
    return 0.0 if n < 2 else (T_95[n - 2] if n <= 10 else 2.1) * cell.error


def bars(line: Sequence[tuple[Any, Cell]]) -> list[float]:
    """Standard errors along a line of (x, cell); 0 for one seed."""
    return [c.error if math.isfinite(c.error) else 0.0 for _, c in line]


def said(cells: list[Cell]) -> str:
    """ "5 seeds, bars: ± 1 standard error"."""
    counts = sorted({c.count for c in cells})
    seeds = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    return f"{seeds} seed{'s' if seeds != '1' else ''} per mark"


def ok(cells: list[Cell]) -> list[Cell]:
    return [c for c in cells if c.status == "ok" and math.isfinite(c.mean)]


def linear_memory_accuracy(n: float, d: float, dv: float) -> float:
    """The accuracy that theory predicts for a linear memory of n random unit keys with Gaussian values. A read is
    decoded to the value with which it has the largest inner product, its score. The scores are approximated by
    independent Gaussian numbers. The correct value's score is dv (1 + ...); a wrong value's score is crosstalk only."""
    z, weight = np.polynomial.hermite_e.hermegauss(40)  # type: ignore[no-untyped-call]
    crosstalk = (n - 1) / d
    right = dv + math.sqrt(dv * (2 + crosstalk)) * z
    wrong = math.sqrt(dv * (1 + crosstalk) + dv * (dv + 1) / d)
    below = ranks.normal(right / wrong)
    return float(np.sum(weight * below ** (n - 1)) / np.sum(weight))


def lines_of(variant: str, points: list[tuple[float, Cell]]) -> dict[str, list[tuple[float, Cell]]]:
    """{name of a line: [(x, cell)]} of one layer. There is a line for each setting; its points are sorted by x."""
    mine = [c for _, c in points if c.variant == variant]
    varying = cells_.varying([dataclasses.replace(c, params={variant: c.params.get(variant, {})}) for c in mine])
    lines: dict[str, list[tuple[float, Cell]]] = {}
    for x, c in points:
        if c.variant == variant:
            planned = c.params.get(variant, {})
            own = {n: v for n, v in planned.items() if n in varying and (variant, n) not in c.chosen}
            lines.setdefault(" ".join([variant, style.params_text(own)]).strip(), []).append((x, c))
    return {name: sorted(line, key=lambda p: p[0]) for name, line in lines.items()}


def by_load(cells: list[Cell]) -> Figure | None:
    """Accuracy as a function of n / d, with one line per layer, the accuracy of a guess, and the theory of the linear
    memory; None if n / d was not swept."""
    mine = [c for c in ok(cells) if c.task == "recall" and {"n", "d", "dv"} <= set(c.params.get("recall", {}))]
    groups: dict[tuple[Any, ...], list[tuple[float, Cell]]] = {}
    for c in mine:
        at: dict[str, Any] = {**c.params["recall"]}
        groups.setdefault((c.experiment, c.file, at["d"], at["dv"]), []).append((at["n"] / at["d"], c))
    groups = {k: v for k, v in groups.items() if len({x for x, _ in v}) > 2}
    if not groups:
        return None
    figure, axes = style.panels(len(groups), 2, height=3.2, between=1.6 if len(groups) > 1 else 0.9)
    for ax, ((experiment, _, d, dv), points) in zip(axes, sorted(groups.items())):
        for order, variant in enumerate(sorted({c.variant for _, c in points})):
            lines = lines_of(variant, points)
            for i, (name, line) in enumerate(sorted(lines.items())):
                ax.errorbar(
                    [x for x, _ in line],
                    [c.mean for _, c in line],
                    yerr=bars(line),
                    linewidth=style.width(order),
                    elinewidth=1.2,
                    capsize=2,
                    label=style.label(name),
                    **style.look(variant, i),
                )
        loads = np.geomspace(min(x for x, _ in points), max(x for x, _ in points), 60)
        ax.plot(loads, [linear_memory_accuracy(x * d, d, dv) for x in loads], color=INK, linestyle=(0, (5, 2)),
                linewidth=1.2, label="theory: linear memory")  # fmt: skip
        ax.plot(loads, 1 / (loads * d), color=MUTED, linestyle=":", linewidth=1, label="chance 1/n")
        ax.axvline(1, color=MUTED, linewidth=0.8)
        ax.annotate("n = d", (1, 0.02), xycoords=("data", "axes fraction"), fontsize=7.5, color=MUTED)
        ax.set_xscale("log", base=2)
        ax.xaxis.set_major_formatter("{x:g}")
        ax.set_xlabel("stored pairs per key channel, n / d")
        ax.set_ylabel("accuracy of the last read")
        untuned = ", untuned" if any(c.setting == "untuned" for _, c in points) else ""
        title = f"{style.words(experiment)}: " if experiment else ""
        ax.set_title(style.wrapped(f"{title}d = {d}, dv = {dv}; {said([c for _, c in points])}, ± 1 s.e.{untuned}", 60))
        style.below(ax, ncol=2) if len(groups) > 1 else style.beside(ax)
    return figure


def against_cost(cells: list[Cell]) -> Figure | None:
    """The headline metric as a function of state bytes per head, and of flops per token. The layers of the Pareto front
    are joined by a line and named. Only layers that have no fixed weights and that beat a guess can be on it. Layers
    with fixed weights have hollow marks."""
    mine = [c for c in ok(cells) if c.direction and c.state_bytes > 0 and c.flops > 0]
    if len(mine) < 4:
        return None
    figure, axes = style.panels(2, 2, height=3.4, between=0.7)
    direction, headline = mine[0].direction, mine[0].headline
    for ax, cost, label in zip(axes, ("state_bytes", "flops"), ("state, bytes per head", "flops per token and head")):
        points = [(getattr(c, cost), c.mean) for c in mine]
        for fixed in (False, True):
            some = [c for c in mine if cells_.is_fixed(c) == fixed]
            ax.errorbar(
                [getattr(c, cost) for c in some],
                [c.mean for c in some],
                yerr=[interval(c) for c in some],
                fmt="o",
                color=CYCLE[0],
                markerfacecolor="none" if fixed else CYCLE[0],
                alpha=0.55,
                markersize=4,
                elinewidth=0.8,
            )
        good = [c for c in mine if cells_.beats_chance(c) and not cells_.is_fixed(c)]
        front = [good[i] for i in cells_.pareto([(getattr(c, cost), c.mean) for c in good], direction)]
        ax.plot([getattr(c, cost) for c in front], [c.mean for c in front], color=CYCLE[1], drawstyle="steps-post",
                linewidth=1.3, label="Pareto front")  # fmt: skip
        for number, c in enumerate(front, 1):  # the names are below the axis, where there is space
            ax.annotate(
                str(number),
                (getattr(c, cost), c.mean),
                textcoords="offset points",
                xytext=(-3, 4 * direction),
                fontsize=7.5,
                color=CYCLE[1],
                ha="right",
                va="bottom" if direction > 0 else "top",
            )
        named = textwrap.fill(",  ".join(f"{n} {c.variant}" for n, c in enumerate(front, 1)), 56)
        share = mine[0].ceiling == 1  # the metric is a fraction of correct answers, from 0 to 1
        positive = all(y > 0 for _, y in points) and max(y for _, y in points) > 30 * min(y for _, y in points)
        logarithmic = positive and not share
        if logarithmic:
            ax.set_yscale("log")
        for end, name in ((mine[0].chance, "chance"), (mine[0].ceiling, "best")):
            if math.isfinite(end) and (end > 0 or not logarithmic):  # a log axis has no zero
                ax.axhline(end, color=MUTED, linewidth=0.8, linestyle=":")
                ax.annotate(name, (1, end), xycoords=("axes fraction", "data"), fontsize=7, color=MUTED, ha="right",
                            va="bottom")  # fmt: skip
        ax.set_xscale("log")
        ax.set_xlabel(f"{label}\n{named}")
        ax.set_ylabel(style.words(headline))
        ax.margins(x=0.12, y=0.12)
    return figure


def capacities(cells: list[Cell]) -> Figure | None:
    """The n at which accuracy is 99%, with a 95% interval over seeds; the best layer comes first. A mark at the right
    edge means that accuracy is still 99% at the largest n that ran."""
    mine = [c for c in ok(cells) if c.task == "capacity"]
    if len(mine) < 2:
        return None
    mine.sort(key=lambda c: c.mean)
    figure = style.new_figure(8, 0.9 + 0.19 * len(mine))
    ax = figure.subplots()
    for y, c in enumerate(mine):
        capped = c.mean >= c.ceiling
        ax.errorbar(
            max(c.mean, 0.8),
            y,
            xerr=interval(c) or None,
            fmt=">" if capped else "o",
            color=CYCLE[1] if capped else CYCLE[0],
            capsize=2,
            markersize=4,
        )
    ax.set_yticks(range(len(mine)), [c.variant for c in mine], fontsize=7)
    d = mine[0].params["capacity"].get("d", 1)
    ax.axvline(d, color=MUTED, linewidth=0.8, linestyle="--")
    ax.annotate(f" n = d = {d}", (d, 0.01), xycoords=("data", "axes fraction"), fontsize=7.5, color=MUTED)
    ax.set_xscale("log", base=2)
    ax.xaxis.set_major_formatter("{x:g}")
    ax.set_xlabel(f"pairs recalled with 99% accuracy; 95% interval over seeds, {said(mine)}; triangles: at least")
    ax.set_ylim(-0.8, len(mine) - 0.2)
    return figure


def mean_ranks(found: ranks.Ranks | None) -> Figure | None:
    """Mean rank of every layer over tasks, best first. By Nemenyi's test, shaded layers do not differ from the best."""
    if not found:
        return None
    figure = style.new_figure(8, 0.9 + 0.19 * len(found.layers))
    ax = figure.subplots()
    told = found.not_told_from_best()
    for y, mean in enumerate(found.means):
        ax.plot(mean, y, "o", color=CYCLE[0], markersize=4, markerfacecolor=CYCLE[0] if y < told else "none")
    ax.axvspan(found.means[0], found.means[0] + found.critical, color=CYCLE[1], alpha=0.12, linewidth=0)
    ax.set_yticks(range(len(found.layers)), found.layers, fontsize=7)
    ax.set_xlabel(
        f"mean rank over {len(found.tasks)} tasks, 1 is best; shaded: the critical difference, {found.critical:.1f}\n"
        + textwrap.fill("tasks: " + ", ".join(found.tasks), 110)
    )
    ax.set_ylim(len(found.layers) - 0.2, -0.8)
    return figure


def panels_of(cells: list[Cell], across: list[str], within: list[str]) -> list[Panel]:
    """[(title, [((variant, name), cells)])]: one panel per task and value of `across`, with at most MOST_LINES
    lines."""
    panels: dict[tuple[str, ...], dict[tuple[str, str], list[Cell]]] = {}
    for c in cells:
        s = c.told
        key = (c.task, *(str(s.get(n, "")) for n in across))
        name = " ".join([c.variant, *(f"{n.split('.')[-1]}={s[n]}" for n in within if n in s)])
        panels.setdefault(key, {}).setdefault((c.variant, name), []).append(c)
    found = []
    for (task, *values), lines in sorted(panels.items()):
        title = ", ".join([task, *(f"{n.split('.')[-1]} = {v}" for n, v in zip(across, values))])
        ordered, parts = sorted(lines.items()), -(-len(lines) // MOST_LINES)
        for i in range(parts):
            said = f"{title} ({i + 1} of {parts})" if parts > 1 else title
            found.append((said, ordered[i * MOST_LINES : (i + 1) * MOST_LINES]))
    return found


def experiment(cells: list[Cell]) -> Figure | None:
    """One experiment that sweeps. The numeric parameter with the most values is the x axis, there is a panel for each
    value of the next two, and a line for each layer and each combination of the other settings that vary. None if no
    numeric parameter varies."""
    axes_of: dict[str, list[Any]] = {}
    for c in ok(cells):
        for name, value in c.told.items():
            axes_of.setdefault(name, []).append(value)
    numeric = [n for n, values in axes_of.items() if style.finite(*values) and len(set(values)) > 1]
    if not numeric:
        return None
    x = max(
        numeric, key=lambda n: (len(axes_of[n]), len(set(axes_of[n])))
    )  # if only one layer has a parameter, only this layer's cells sweep it
    mine = [c for c in ok(cells) if x in c.told]
    rest = sorted((n for n in axes_of if n != x), key=lambda n: len(set(map(str, axes_of[n]))))
    every = panels_of(mine, rest[:2], rest[2:])
    names: dict[str, list[str]] = {}
    for _, lines in every:
        for variant, name in (key for key, _ in lines):
            names.setdefault(variant, []).append(name)
    shown = every[:MOST_PANELS]
    figure, axes = style.panels(len(shown), 3, height=2.4, between=1.5)
    for ax, (title, lines) in zip(axes, shown):
        for order, ((variant, name), line) in enumerate(lines):
            points = sorted(((c.told[x], c) for c in line), key=lambda p: p[0])
            look = style.look(variant, sorted(set(names[variant])).index(name))
            ax.errorbar([p for p, _ in points], [c.mean for _, c in points], yerr=bars(points), capsize=2,
                        linewidth=style.width(order), elinewidth=1.2, label=style.label(name), **look)  # fmt: skip
        some = lines[0][1][0]
        if style.spread_log([p for p in axes_of[x]]):
            ax.set_xscale("log", base=2)
            ax.xaxis.set_major_formatter("{x:g}")
        if style.spread_log([c.mean for _, line in lines for c in line]) and some.direction <= 0:
            ax.set_yscale("log")
        ax.set_title(style.label(style.wrapped(title, 34)))
        ax.set_xlabel(x)
        ax.set_ylabel(style.words(some.headline))
        style.below(ax, ncol=2)
    if len(every) > len(shown):
        said = f"{len(every) - len(shown)} more panels are not drawn: their cells are in the table."
        figure.text(0.02, -0.02, said, fontsize=7.5, color=MUTED, va="top")
    return figure


def stacked(places: list[float], heights: list[float]) -> list[float]:
    """Positions for labels of these heights, close to the given positions (ascending) and without overlap. One pass
    upwards and one pass downwards find them."""
    middles = list(places)
    for i in range(1, len(middles)):
        middles[i] = max(middles[i], middles[i - 1] + (heights[i - 1] + heights[i]) / 2)
    if middles:
        middles[-1] = min(middles[-1], places[-1] + heights[-1] / 2)
    for i in range(len(middles) - 2, -1, -1):
        middles[i] = min(middles[i], middles[i + 1] - (heights[i] + heights[i + 1]) / 2)
    return middles


def on_front(cells: list[Cell]) -> set[str]:
    """The layers that no layer with a smaller or equal state beats. Only layers that have no fixed weights and that
    beat a guess count."""
    good = [c for c in cells if cells_.beats_chance(c) and not cells_.is_fixed(c)]
    front = [good[i] for i in cells_.pareto([(c.state_bytes, c.mean) for c in good], good[0].direction if good else 1)]
    return {c.variant for c in good if any((c.state_bytes, c.mean) == (f.state_bytes, f.mean) for f in front)}


def recall_by_state(results: Results) -> Figure | None:
    """recall_of() for the layers of the matrix."""
    return recall_of(matrix.ranked(results.matrix, "recall"))


def recall_of(all_cells: list[Cell]) -> Figure | None:
    """Accuracy of recall as a function of the state's size, with a column for each factor of two. Every layer is named,
    the layers of the Pareto front in bold; layers with the same value share a mark. None unless the layers were tuned
    and ran with several seeds at one setting."""
    cells = [c for c in all_cells if c.state_bytes > 0 and math.isfinite(c.error)]
    if len(cells) < 4 or any(c.setting == "untuned" for c in cells) or all(c.setting == "fixed" for c in cells):
        return None
    front = on_front(cells)
    ranges: dict[int, list[float]] = {}  # the state sizes from 2^i to below 2^(i+1)
    marks: dict[tuple[int, float, float, bool, bool], list[str]] = {}
    for c in cells:
        power = math.frexp(c.state_bytes)[1]
        ranges.setdefault(power, []).append(c.state_bytes)
        mark = power, c.mean, interval(c), cells_.is_fixed(c), c.variant in front
        marks.setdefault(mark, []).append(c.variant)
    sizes = sorted(ranges)
    longest = max(sum(len(names) for (size, *_), names in marks.items() if size == at) for at in sizes)
    figure = style.new_figure(11, min(9, max(3.5, 0.2 * longest)))
    ax = figure.subplots()
    line = 0.115 / (figure.get_figheight() * 0.77) * 1.1  # a label's line height, on an axis from 0 to 1.1
    columns, right = [], 0.0
    for size in sizes:
        columns.append(right)
        right += 0.6 + 0.075 * max(len(name) for (at, *_), names in marks.items() if at == size for name in names)
    for column, size in zip(columns, sizes):
        mine = sorted((*mark[1:], names) for mark, names in marks.items() if mark[0] == size)
        middles = stacked([mean for mean, *_ in mine], [line * len(names) for *_, names in mine])
        for (mean, error, fixed, best, names), middle in zip(mine, middles):
            colour = INK if best else CYCLE[1] if fixed else CYCLE[0]
            ax.errorbar(
                column,
                mean,
                yerr=error or None,
                fmt="o",
                color=colour,
                markersize=4,
                capsize=2,
                elinewidth=0.9,
                markerfacecolor="none" if fixed else colour,
            )
            ax.plot([column + 0.06, column + 0.17], [mean, middle], color=style.RULE, linewidth=0.7, clip_on=False)
            ax.annotate("\n".join(sorted(names)), (column + 0.2, middle), fontsize=6.3, va="center", linespacing=1.1,
                        color=colour, weight="bold" if best else "normal", annotation_clip=False)  # fmt: skip
    ax.axhline(cells[0].chance, color=MUTED, linewidth=0.8, linestyle=":")
    ax.annotate(
        "chance",
        (1, cells[0].chance),
        xycoords=("axes fraction", "data"),
        fontsize=7,
        color=MUTED,
        ha="right",
        va="bottom",
    )
    ax.set_xlim(-0.3, right)
    ax.set_ylim(-0.02, 1.08)
    ends = [[f"{end(ranges[size]):,.0f}".replace(",", "\u202f") for end in (min, max)] for size in sizes]
    ax.set_xticks(columns, [" to\n".join(dict.fromkeys(pair)) for pair in ends])
    ax.set_xlabel(
        "state, bytes per head; one column per factor of two. Bold: the Pareto front, the layers that no layer with a "
        "smaller or equal state beats"
    )
    ax.set_ylabel("recall: accuracy of a read")
    return figure
