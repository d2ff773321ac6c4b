# SPDX-License-Identifier: Apache-2.0
"""The matrix of layers and tasks. A task is shown by its headline metric. Every place has its mean and standard error,
or the reason why there is none."""
from __future__ import annotations

import math

from typing import Callable, Iterable

from matplotlib.colors import LinearSegmentedColormap

from reports import cells as cells_
from reports.figures import style
from reports.records import Blank, Cell, Matrix

SCALE = LinearSegmentedColormap.from_list("recollect", ["#f4f7fa", "#b7d3e8", "#5b9bc8", "#14568c", "#0a2f52"])


def pick(group: list[Cell]) -> Cell | None:
    """The cell that the matrix shows for a layer and a task: the cell of the experiment called matrix (or of no
    experiment) if there is exactly one, or the only cell. None for a sweep, which has no single number."""
    named = [c for c in group if c.experiment in ("", "matrix")]
    return named[-1] if len(named) == 1 else group[0] if len(group) == 1 else None


def settings_of(all_cells: list[Cell]) -> dict[str, int]:
    """{task: number of settings at which it ran}. A column of the matrix compares layers only if there is one."""
    found: dict[str, set[str]] = {}
    for cell in all_cells:
        found.setdefault(cell.task, set()).add(cells_.task_setting(cell))
    return {task: len(settings) for task, settings in found.items()}


def place_of(group: list[Cell], settings: int) -> Cell | Blank:
    """What the matrix shows for a layer and a task: a cell, or the reason why there is none. `group` are the cells of
    this layer on this task, and `settings` is the number of settings at which the task ran."""
    if not group:
        return Blank("not planned", "this pair was not in the plan of any file")
    if settings > 1:
        return Blank("swept", f"the task was run at {settings} settings: see its page")
    return pick(group) or Blank("swept", f"{len(group)} settings of the layer: see the task's page")


def good(places: Iterable[Cell | Blank]) -> list[Cell]:
    """The cells whose cases all ran."""
    return [c for c in places if isinstance(c, Cell) and c.status == "ok"]


def build(all_cells: list[Cell]) -> Matrix | None:
    """The matrix of these cells; None if there are no cells."""
    if not all_cells:
        return None
    tasks = sorted({c.task for c in all_cells})
    variants = sorted({(c.family, c.variant) for c in all_cells})
    pairs: dict[tuple[str, str], list[Cell]] = {}
    for cell in all_cells:
        pairs.setdefault((cell.variant, cell.task), []).append(cell)
    shown: dict[tuple[str, str], Cell | Blank] = {}
    settings = settings_of(all_cells)
    for _, variant in variants:
        for task in tasks:
            group = pairs.get((variant, task), [])
            shown[variant, task] = place_of(group, settings[task])
    alike = {t: cells_.coincidences(good(shown[v, t] for _, v in variants)) for t in tasks}
    return Matrix(tasks, variants, shown, alike, settings)


def ranked(matrix: Matrix | None, task: str) -> list[Cell]:
    """The cells of a task that can be compared: one per layer, all at the same setting of the task."""
    mine = [matrix.cell[v, task] for _, v in matrix.variants] if matrix and task in matrix.tasks else []
    return [c for c in good(mine) if math.isfinite(c.mean)]


def shade(matrix: Matrix, task: str) -> dict[str, float]:
    """{variant: number from 0 to 1} for the values of a task. 1 is the best value, or the largest if neither larger nor
    smaller values are better."""
    mine = good(matrix.cell[v, task] for _, v in matrix.variants)
    values = {c.variant: c.mean for c in mine if math.isfinite(c.mean)}
    if not values:
        return {}
    some = mine[0]
    if math.isfinite(some.chance) and some.direction > 0 and some.ceiling == 1:
        return {v: min(1.0, max(0.0, (x - some.chance) / (1 - some.chance))) for v, x in values.items()}
    wide = min(values.values()) > 0 and style.spread_log(values.values())
    scale: Callable[[float], float] = math.log if wide else float  # type: ignore[assignment]
    low, high = scale(min(values.values())), scale(max(values.values()))
    flip = some.direction < 0
    return {v: 0.5 if high == low else abs(flip - (scale(x) - low) / (high - low)) for v, x in values.items()}


def colours(fraction: float) -> tuple[str, str]:
    """(colour of the background, colour of the text) for a shade from 0 to 1, with enough contrast."""
    rgba = SCALE(fraction)
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in rgba[:3]]
    light = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    # black text reaches a contrast of 4.5 from a luminance of 0.175 on, white text up to 0.183
    return "#%02x%02x%02x" % tuple(int(255 * c + 0.5) for c in rgba[:3]), "#000000" if light > 0.179 else "#ffffff"


def counts(matrix: Matrix) -> dict[str, int]:
    """{status: number of pairs of a layer and a task} over the whole matrix."""
    return cells_.counts(matrix.cell.values())
