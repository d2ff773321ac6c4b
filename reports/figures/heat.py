# SPDX-License-Identifier: Apache-2.0
"""Heat maps of runs: accuracy as a function of two swept parameters, or of a needle's position and its text's
length."""
from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from reports.figures import style
from reports.figures.style import Figure
from reports.records import Cell, Params

FEWEST, MOST_PANELS, DEPTHS = 3, 12, 8
BY_DEPTH = "accuracy_by_depth"


@dataclass
class HeatMap:
    """One panel. Its values are indexed [y][x], and are NaN where nothing ran."""

    title: str
    x: str
    y: str
    xs: list[float]
    ys: list[float]
    values: list[list[float]]


def swept(cells: list[Cell]) -> dict[str, list[float]]:
    """{parameter: its values, ascending} of the numeric parameters with several values."""
    values: dict[str, set[float]] = {}
    for cell in cells:
        for name, value in cell.told.items():
            if isinstance(value, (int, float)):
                values.setdefault(name, set()).add(float(value))
    return {name: sorted(seen) for name, seen in values.items() if len(seen) >= FEWEST}


def panel_name(cell: Cell, leave_out: tuple[str, ...]) -> str:
    rest: Params = {n: v for n, v in cell.told.items() if n not in leave_out}
    return f"{cell.variant}, {style.params_text(rest)}" if rest else cell.variant


def over_parameters(cells: list[Cell]) -> list[HeatMap]:
    """One panel per layer and setting, if two numeric parameters are swept."""
    names = swept(cells)
    if len(names) != 2:
        return []
    (y, ys), (x, xs) = sorted(names.items(), key=lambda item: item[0].rsplit(".")[-1] in ("T", "length"))
    found: dict[str, HeatMap] = {}
    for cell in cells:
        if x not in cell.told or y not in cell.told:
            continue
        title = panel_name(cell, (x, y))
        empty = [[math.nan] * len(xs) for _ in ys]
        panel = found.setdefault(title, HeatMap(title, x.split(".")[-1], y.split(".")[-1], xs, ys, empty))
        at_x, at_y = cell.told[x], cell.told[y]
        if isinstance(at_x, (int, float)) and isinstance(at_y, (int, float)):
            panel.values[ys.index(float(at_y))][xs.index(float(at_x))] = cell.mean
    return list(found.values())


def over_depth(cells: list[Cell]) -> list[HeatMap]:
    """One panel per layer and setting. Its axes are the needle's position, in eighths of the text, and the text's
    length."""
    names = swept(cells)
    lengths = next((name for name in names if name.split(".")[-1] == "T"), None)
    if lengths is None:
        return []
    ys = [(i + 0.5) / DEPTHS for i in range(DEPTHS)]
    found: dict[str, HeatMap] = {}
    for cell in cells:
        curves, at_x = cell.series.get(BY_DEPTH), cell.told.get(lengths)
        if not curves or not isinstance(at_x, (int, float)):
            continue
        title = panel_name(cell, (lengths,))
        empty = [[math.nan] * len(names[lengths]) for _ in ys]
        panel = found.setdefault(title, HeatMap(title, "T", "place in the text", names[lengths], ys, empty))
        mean = np.mean(np.array([np.asarray(curve, dtype=float) for curve in curves]), axis=0)
        for row, part in zip(panel.values, np.array_split(mean, DEPTHS)):
            if len(part):
                row[names[lengths].index(float(at_x))] = float(part.mean())
    return list(found.values())


def drawn(panels: list[HeatMap], label: str) -> Figure | None:
    """A figure of the panels. Every field shows its number."""
    if not panels:
        return None
    shown = panels[:MOST_PANELS]
    figure, axes = style.panels(len(shown), 3, height=2.1, between=1.0)
    for ax, panel in zip(axes, shown):
        values = np.array(panel.values)
        ax.imshow(values, cmap="viridis", vmin=0, vmax=1, aspect="auto", origin="lower")
        for i, row in enumerate(panel.values):
            for j, value in enumerate(row):
                if math.isfinite(value):
                    colour = "white" if value < 0.6 else "black"
                    ax.text(j, i, f"{value:.2f}", ha="center", va="center", fontsize=6.5, color=colour)
        ax.set_xticks(range(len(panel.xs)), [f"{x:g}" for x in panel.xs])
        ax.set_yticks(range(len(panel.ys)), [f"{y:.2g}" for y in panel.ys])
        ax.grid(False)
        ax.set_title(style.label(style.wrapped(panel.title, 34)))
        ax.set_xlabel(panel.x)
        ax.set_ylabel(panel.y if ax in axes[::3] else "")
    said = f"{label}, mean over seeds"
    if len(panels) > len(shown):
        said += f"; {len(panels) - len(shown)} more panels are not drawn"
    figure.text(0.02, -0.02, said, fontsize=7.5, color=style.MUTED, va="top")
    return figure


def heat_maps(cells: list[Cell]) -> Figure | None:
    """Heat maps of an experiment of recall whose metric is an accuracy: over two swept parameters, or over the needle's
    position and the text's length."""
    good = [c for c in cells if c.status == "ok" and math.isfinite(c.mean) and c.headline == "accuracy"]
    by_depth = over_depth(good)
    return drawn(by_depth or over_parameters(good), "accuracy")
