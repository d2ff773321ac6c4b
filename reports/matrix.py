# SPDX-License-Identifier: Apache-2.0
"""The variants x tasks matrix: one headline a task, every cell its mean and standard error, or why it has none."""
import math

import cells as cells_
import style
from matplotlib.colors import LinearSegmentedColormap

SCALE = LinearSegmentedColormap.from_list("recollect", ["#f4f7fa", "#b7d3e8", "#5b9bc8", "#14568c", "#0a2f52"])


def pick(group):
    """The one cell of a pair that the matrix shows: that of the experiment called matrix, else the only one, else none:
    a sweep has no single number."""
    named = [c for c in group if c["experiment"] in ("", "matrix")]
    return named[-1] if len(named) == 1 else group[0] if len(group) == 1 else None


def settings_of(all_cells):
    """{task: how many settings of it were run}: a column of the matrix compares layers at one."""
    found = {}
    for cell in all_cells:
        found.setdefault(cell["task"], set()).add(cells_.task_setting(cell))
    return {task: len(settings) for task, settings in found.items()}


def build(all_cells):
    """{tasks, variants: [(family, variant)], cell: {(variant, task): cell}, same: {task: {variant: letter}}, settings: {task:
    how many it was run at}}, or None."""
    if not all_cells:
        return None
    tasks = sorted({c["task"] for c in all_cells})
    variants = sorted({(c["family"], c["variant"]) for c in all_cells})
    pairs = {}
    for cell in all_cells:
        pairs.setdefault((cell["variant"], cell["task"]), []).append(cell)
    shown, settings = {}, settings_of(all_cells)
    for _, variant in variants:
        for task in tasks:
            group = pairs.get((variant, task), [])
            cell = pick(group) if group else dict(status="not planned", reason="this pair was not in the plan of any file")
            if group and settings[task] > 1:
                cell = dict(status="swept", reason=f"the task was run at {settings[task]} settings: see its page")
            shown[variant, task] = cell or dict(status="swept", reason=f"{len(group)} settings of the layer: see the task's page")
    same = {t: cells_.coincidences([shown[v, t] for _, v in variants if shown[v, t]["status"] == "ok"]) for t in tasks}
    return dict(tasks=tasks, variants=variants, cell=shown, same=same, settings=settings)


def ranked(matrix, task):
    """The cells of a task that can be compared: every layer's one, all at the same setting of the task."""
    mine = [matrix["cell"][v, task] for _, v in matrix["variants"]] if matrix and task in matrix["tasks"] else []
    return [c for c in mine if c["status"] == "ok" and math.isfinite(c["mean"])]


def shade(matrix, task):
    """{variant: 0 ... 1} for a task's values, 1 the best (or the largest where neither end is better)."""
    mine = {v: matrix["cell"][v, task] for _, v in matrix["variants"] if matrix["cell"][v, task]["status"] == "ok"}
    values = {v: c["mean"] for v, c in mine.items() if math.isfinite(c["mean"])}
    if not values:
        return {}
    some = next(iter(mine.values()))
    if math.isfinite(some["chance"]) and some["direction"] > 0 and some["ceiling"] == 1:
        return {v: min(1.0, max(0.0, (x - some["chance"]) / (1 - some["chance"]))) for v, x in values.items()}
    scale = math.log if min(values.values()) > 0 and style.spread_log(values.values()) else float
    low, high = scale(min(values.values())), scale(max(values.values()))
    flip = some["direction"] < 0
    return {v: 0.5 if high == low else abs(flip - (scale(x) - low) / (high - low)) for v, x in values.items()}


def colours(fraction):
    """(background, text) with enough contrast for one shade."""
    rgba = SCALE(fraction)
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in rgba[:3]]
    light = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    # black reaches a ratio of 4.5 from a luminance of 0.175 on, white up to 0.183
    return "#%02x%02x%02x" % tuple(int(255 * c + 0.5) for c in rgba[:3]), "#000000" if light > 0.179 else "#ffffff"


def counts(matrix):
    """{status: pairs} over the whole matrix."""
    return cells_.counts(matrix["cell"].values())
