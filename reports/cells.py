# SPDX-License-Identifier: Apache-2.0
"""Groups cases to cells. The cases of a cell differ only in their seed; different settings are never averaged."""
from __future__ import annotations

import dataclasses
import math
from typing import Any, Iterable, Sequence

import numpy as np

from recollect.schema import Value
from reports.records import Blank, Case, Cell, Params, Summary

DIRECTIONS = {"larger": 1, "smaller": -1}
SHARED = ("experiment", "task", "variant", "family", "form", "real", "chance", "ceiling", "params", "setting", "file")
WORST_FIRST = ("failed", "not run", "skipped", "meaningless", "ok")


def planned(case: Case) -> tuple[Any, ...]:
    """Everything that distinguishes a case, except its seed and the parameters that tuning chose."""
    chosen = case.chosen
    params = tuple(
        (owner, name, value)
        for owner, mine in sorted(case.params.items())
        for name, value in sorted(mine.items())
        if (owner, name) not in chosen and not (isinstance(value, float) and math.isnan(value))
    )
    return (case.file, case.experiment, case.task, case.variant, case.form, case.real,
            case.chunk, params)  # fmt: skip


def mean_and_error(values: Sequence[float]) -> tuple[float, float]:
    """(mean, standard error of the mean). The error is NaN for one value."""
    if not values:
        return math.nan, math.nan
    mean = float(np.mean(values))
    return mean, float(np.std(values, ddof=1) / math.sqrt(len(values))) if len(values) > 1 else math.nan


def cell_of(cases: list[Case]) -> Cell:
    first = cases[0]
    status = next(s for s in WORST_FIRST if any(c.status == s for c in cases))
    speaks = next(c for c in cases if c.status == status)
    good = [c for c in cases if c.status == "ok"] if status == "ok" else []
    metrics: dict[str, Summary] = {}
    for name in dict.fromkeys(n for c in good for n in c.metrics):
        values = [c.metrics[name] for c in good if name in c.metrics]
        metrics[name] = Summary(*mean_and_error(values), values)
    headline = first.headline or (list(metrics)[0] if metrics else None)
    main = metrics.get(headline or "", Summary(math.nan, math.nan, []))
    return Cell(
        **{name: getattr(first, name) for name in SHARED},
        chosen=good[0].chosen if good else {},
        headline=headline,
        direction=DIRECTIONS.get(first.better, 0),
        status=status,
        reason=speaks.reason,
        count=len(cases),
        seeds=[c.seed for c in cases],
        metrics=metrics,
        mean=main.mean,
        error=main.error,
        values=main.values,
        state_bytes=speaks.state_bytes,
        flops=speaks.flops,
        series={n: [c.series[n] for c in good if n in c.series] for c in good[:1] for n in c.series},
    )


def cells(cases: list[Case]) -> list[Cell]:
    """Every cell of the files, in the order of the plan. The trials of tuning are left out."""
    groups: dict[tuple[Any, ...], list[Case]] = {}
    for case in cases:
        if case.setting != "trial":
            groups.setdefault(planned(case), []).append(case)
    found = [cell_of(group) for group in groups.values()]
    tell_apart(found)
    return found


def tell_apart(cells: list[Cell]) -> None:
    """Sets `told` of every cell to the settings that distinguish it from the other cells of its task and experiment:
    the settings of the task that vary among these cells, and the settings of its layer that vary among the layer's
    cells. Values that tuning chose are not included."""
    values: dict[tuple[str, ...], set[str]] = {}

    def place(cell: Cell, owner: str, name: str) -> tuple[str, ...]:
        # the page of a task shows cells of the experiment "matrix" and of no experiment in one table
        return (cell.experiment.replace("matrix", ""), cell.task, owner, name)

    for cell in cells:
        for owner, mine in cell.params.items():
            for name, value in mine.items():
                values.setdefault(place(cell, owner, name), set()).add(str(value))
    for cell in cells:
        apart = {
            owner: {
                n: v
                for n, v in mine.items()
                if len(values[place(cell, owner, n)]) > 1 and (owner, n) not in cell.chosen
            }
            for owner, mine in cell.params.items()
        }
        cell.told = settings(dataclasses.replace(cell, params=apart))


def task_setting(cell: Cell) -> str:
    """The parameters of the cell's task as a text. Cells are compared only if these are the same."""
    return str(sorted(cell.params.get(cell.task, {}).items()))


def ran_with(cell: Cell) -> dict[str, Params]:
    """{owner: {name: value}}: the parameters with which a cell ran. Tuned values override planned values."""
    params = {owner: dict(mine) for owner, mine in cell.params.items()}
    for (owner, name), value in cell.chosen.items():
        params.setdefault(owner, {})[name] = value
    return params


def settings(cell: Cell) -> Params:
    """{name: value}: the planned parameters of the task and the layer. A parameter of the layer is called LAYER.name if
    the task has a parameter of the same name."""
    task = dict(cell.params.get(cell.task, {}))
    for name, value in cell.params.get(cell.variant, {}).items():
        task[f"{cell.variant}.{name}" if name in task else name] = value
    return task


def varying(group: list[Cell]) -> dict[str, list[Value]]:
    """{name: values} of the planned parameters that differ among the cells."""
    values: dict[str, dict[Value, None]] = {}
    for cell in group:
        for name, value in settings(cell).items():
            values.setdefault(name, {}).setdefault(value if value == value else "automatic", None)
    return {name: list(found) for name, found in values.items() if len(found) > 1}


def tuning(cell: Cell) -> str:
    """How the layer of a cell was tuned: "tuned: scale = 16", "untuned defaults" or "nothing free"."""
    said = ", ".join(f"{name} = {value:g}" if value == value else f"{name} = default"
                     for (_, name), value in cell.chosen.items())  # fmt: skip
    if cell.setting == "tuned":
        return f"tuned: {said}" if said else "tuned: no trial ran"
    plain = {"untuned": "untuned defaults", "fixed": "nothing free"}.get(cell.setting, "")
    return f"{plain}: {said}" if said else plain  # `said` has the widths that --state-bytes chose


def signature(cell: Cell) -> tuple[Any, ...]:
    """All metrics of all seeds to nine digits. Layers that compute the same under these settings have equal
    signatures."""
    numbers = sorted((name, of.values) for name, of in cell.metrics.items())
    return (tuple(cell.seeds), tuple((n, tuple(f"{v:.8e}" for v in values)) for n, values in numbers))


def coincidences(group: list[Cell]) -> dict[str, str]:
    """{variant: letter} for the cells of one task. Layers whose numbers agree in every metric and seed share a letter;
    other layers have none."""
    same: dict[tuple[Any, ...], list[str]] = {}
    for cell in group:
        if cell.status == "ok":
            same.setdefault(signature(cell), []).append(cell.variant)
    shared = [variants for variants in same.values() if len(variants) > 1]
    return {v: (chr(ord("a") + i) if i < 26 else f"a{i}") for i, variants in enumerate(shared) for v in variants}


def counts(cells: Iterable[Cell | Blank]) -> dict[str, int]:
    """{status: number of cells}."""
    found: dict[str, int] = {}
    for cell in cells:
        found[cell.status] = found.get(cell.status, 0) + 1
    return found


def beats_chance(cell: Cell) -> bool:
    """Whether the cell is better than a guess by more than two standard errors. False for one seed, for which there is
    no standard error."""
    if math.isnan(cell.error):
        return False
    return math.isnan(cell.chance) or cell.direction * (cell.mean - cell.chance) > 2 * cell.error


def is_fixed(cell: Cell) -> bool:
    """Whether the weights of the layer are fixed. Such a layer is compared separately, because nothing is written to
    it."""
    return cell.family == "persistent memory"


def pareto(points: list[tuple[float, float]], direction: int) -> list[int]:
    """The Pareto front: the indices of the (cost, value) pairs whose value no pair with a smaller or equal cost
    reaches. Larger values are better if `direction` is 1, smaller values if it is -1."""
    order = sorted(range(len(points)), key=lambda i: (points[i][0], -direction * points[i][1]))
    front, best = [], -math.inf
    for i in order:
        if direction * points[i][1] > best:
            front.append(i)
            best = direction * points[i][1]
    return front
