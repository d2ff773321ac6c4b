# SPDX-License-Identifier: Apache-2.0
"""The variants x tasks matrix: one headline metric a task, every cell with a value or the reason why it has none."""
import math

import numpy as np
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.patches import Rectangle

import style
from style import INK, MUTED, OUTCOMES

SCALE = LinearSegmentedColormap.from_list("recollect", ["#f4f7fa", "#b7d3e8", "#5b9bc8", "#14568c", "#0a2f52"])


DIRECTIONS = {"larger": 1, "smaller": -1}


def headline(cases):
    """The metric that a task is about; the first that was reported where the file does not say; or None."""
    return next((c["headline"] for c in cases if c["headline"]), next((m for c in cases for m in c["metrics"]), None))


def direction(cases):
    """+1 where more of the headline is better, -1 where less is, 0 where neither is or the file does not say."""
    return next((DIRECTIONS.get(c["better"], 0) for c in cases if c["headline"]), 0)


def build(results):
    """{tasks, variants: [(family, variant)], metric, direction: {task: ...}, cell: {(variant, task): {...}}} or None.

    A cell is {status, value, count, reason}; its value is the mean over the cell's cases (seeds, forms, real types)."""
    cases = results["cases"]
    if not cases:
        return None
    tasks = sorted({c["task"] for c in cases})
    variants = sorted({(c["family"], c["variant"]) for c in cases})
    of_task = {t: [c for c in cases if c["task"] == t] for t in tasks}
    metric, better = ({t: f(of_task[t]) for t in tasks} for f in (headline, direction))
    cells = {}
    for case in cases:
        cells.setdefault((case["variant"], case["task"]), []).append(case)
    table = {}
    for family, variant in variants:
        for task in tasks:
            mine = cells.get((variant, task), [])
            for status in ("failed", "not run", "meaningless", "ok"):  # the worst of the cell's cases speaks for it
                those = [c for c in mine if c["status"] == status]
                if those:
                    break
            values = [c["metrics"][metric[task]] for c in those if metric[task] in c["metrics"]]
            table[variant, task] = {
                "status": status if those else "not planned",
                "count": len(mine),
                "value": float(np.mean(values)) if values else None,
                "reason": those[0]["reason"] if those else "this pair was not in the plan of any file",
            }
    return {"tasks": tasks, "variants": variants, "metric": metric, "direction": better, "cell": table}


def shade(matrix, task):
    """{variant: 0 ... 1} for a task's values, 1 the best (or the largest where neither end is better)."""
    values = {
        v: matrix["cell"][v, task]["value"] for _, v in matrix["variants"] if matrix["cell"][v, task]["status"] == "ok"
    }
    values = {v: x for v, x in values.items() if x is not None and math.isfinite(x)}
    if not values:
        return {}
    metric = matrix["metric"][task]
    if "accuracy" in metric or "cosine" in metric:
        return {v: min(1.0, max(0.0, x)) for v, x in values.items()}
    scale = math.log if min(values.values()) > 0 and style.spread_log(values.values()) else float
    low, high = scale(min(values.values())), scale(max(values.values()))
    flip = matrix["direction"][task] < 0
    return {v: 0.5 if high == low else abs(flip - (scale(x) - low) / (high - low)) for v, x in values.items()}


def colours(fraction):
    """(background, text) with enough contrast for one shade."""
    rgba = SCALE(fraction)
    return "#%02x%02x%02x" % tuple(int(255 * c + 0.5) for c in rgba[:3]), INK if fraction < 0.45 else "#ffffff"


def arrow(matrix, task):
    return {1: " ↑", -1: " ↓", 0: ""}[matrix["direction"][task]]


def figure(results):
    """The matrix as a heat map; marks: – meaningless, ! failed, ? not run."""
    matrix = build(results)
    if not matrix:
        return None
    tasks, variants = matrix["tasks"], matrix["variants"]
    picture = style.new_figure(2.4 + 0.78 * len(tasks), 1.5 + 0.21 * len(variants))
    ax = picture.subplots()
    for column, task in enumerate(tasks):
        shades = shade(matrix, task)
        for row, (_, variant) in enumerate(variants):
            cell = matrix["cell"][variant, task]
            if cell["status"] == "ok":
                back, ink = colours(shades[variant]) if variant in shades else ("#ffffff", INK)
                text = style.number(cell["value"], 3) if cell["value"] is not None else ""
            else:
                back, ink, text = {
                    "meaningless": ("#eceef1", MUTED, "–"),
                    "failed": (OUTCOMES["failed"], "#ffffff", "failed"),
                }.get(cell["status"], ("#ffffff", MUTED, "?"))
            ax.add_patch(Rectangle((column - 0.49, row - 0.47), 0.98, 0.94, color=back, linewidth=0))
            ax.text(column, row, text, ha="center", va="center", fontsize=6.5, color=ink)
    ax.set_xlim(-0.5, len(tasks) - 0.5)
    ax.set_ylim(len(variants) - 0.5, -0.5)
    ax.set_xticks(
        range(len(tasks)),
        [f"{t}\n{matrix['metric'][t] or 'no metric'}{arrow(matrix, t)}" for t in tasks],
        rotation=40,
        ha="left",
        fontsize=7,
    )
    ax.set_yticks(range(len(variants)), [v for _, v in variants], fontsize=7)
    ax.xaxis.tick_top()
    ax.grid(False)
    ax.tick_params(length=0)
    for spine in ax.spines.values():
        spine.set_visible(False)
    for row, (family, _) in enumerate(variants):
        if row == 0 or family != variants[row - 1][0]:
            ax.axhline(row - 0.5, color=INK, linewidth=0.8)
            ax.text(len(tasks) - 0.45, row, family, va="center", fontsize=7, fontweight="bold", color=MUTED)
    return picture


def counts(matrix):
    """{status: cells} over the whole matrix."""
    found = {}
    for cell in matrix["cell"].values():
        found[cell["status"]] = found.get(cell["status"], 0) + 1
    return found
