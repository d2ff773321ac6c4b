# SPDX-License-Identifier: Apache-2.0
"""Recommends layers for each task, or says why the files do not allow a recommendation."""
from __future__ import annotations

import math

from reports import cells as cells_, matrix as matrices
from reports.figures.style import number
from reports.records import Blank, Cell, Matrix

ASKED_FIRST = ("recall", "mqar", "needle", "swap", "online_regression")
MOST = 3  # at most so many layers of a Pareto front are named


def named(mine: list[Cell]) -> str:
    """The last MOST layers of the Pareto front as text, such as "delta_net 0.98 at 2 048 bytes". The front consists of
    the layers that no layer with a smaller state beats."""
    front = cells_.pareto([(c.state_bytes, c.mean) for c in mine], mine[0].direction)
    chosen = [mine[i] for i in front[-MOST:]]
    return ", ".join(f"{c.variant} {number(c.mean, 2)} at {number(c.state_bytes)} bytes" for c in chosen)


def answer(cells: list[Cell], settings: int) -> tuple[bool, str]:
    """(whether there is an answer, its text) for one task, from its comparable cells and its number of settings."""
    if settings > 1:
        return False, f"run at {settings} settings, which may rank layers differently: see the task's page"
    if any(c.setting == "untuned" for c in cells):
        return False, "not answered, because the layers have untuned defaults: recollect run --tune tunes each"
    if all(math.isnan(c.error) for c in cells):
        return False, "one seed per layer: without a standard error no layer can be told from a guess"
    good = [c for c in cells if cells_.beats_chance(c)]
    written, fixed = ([c for c in good if cells_.is_fixed(c) == apart] for apart in (False, True))
    said = [named(written)] if written else ["no layer that is written to is two standard errors better than a guess"]
    if fixed:
        said.append(f"with fixed weights, to which nothing is written: {named(fixed)}")
    return bool(good), "; ".join(said)


def is_swept(place: Cell | Blank | None) -> bool:
    return place is not None and place.status == "swept"


def answers(matrix: Matrix | None) -> list[tuple[str, bool, str]]:
    """[(task, whether there is an answer, its text)] for the tasks that readers ask about first, if at least two layers
    ran."""
    found: list[tuple[str, bool, str]] = []
    for task in ASKED_FIRST if matrix else ():
        assert matrix is not None
        mine = [c for c in matrices.ranked(matrix, task) if c.direction and c.state_bytes > 0]
        swept = [v for _, v in matrix.variants if is_swept(matrix.cell.get((v, task)))]
        settings = matrix.settings.get(task, 0)
        if len(mine) > 1 or len(swept) > 1:
            found.append((task, *answer(mine, max(settings, 2) if swept else settings)))
    return found
