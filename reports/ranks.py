# SPDX-License-Identifier: Apache-2.0
"""Mean ranks of layers over tasks, with the critical difference of Nemenyi's test (Demsar, JMLR 7, 2006)."""
from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from reports.records import Cell, Curve, Matrix

LEVEL = 0.05
FEWEST_TASKS = 3


@dataclass
class Ranks:
    tasks: list[str]
    layers: list[str]  # best first
    means: list[float]  # mean rank of each layer; rank 1 is the best, and ties share the mean of their ranks
    left_out: list[str]  # layers without a value on one of the tasks
    critical: float  # critical difference: two layers whose mean ranks differ by less do not differ significantly

    def not_told_from_best(self) -> int:
        return sum(mean - self.means[0] < self.critical for mean in self.means)


def normal(x: Curve) -> Curve:
    """The standard normal distribution function of each number in x."""
    return np.array([0.5 * math.erfc(-a / math.sqrt(2)) for a in x])


def studentized_range(groups: int, level: float = LEVEL) -> float:
    """The value that the range (largest minus smallest) of `groups` standard normal numbers exceeds with probability
    `level`."""
    x = np.linspace(-8, 8, 801)
    density = groups * np.exp(-x * x / 2) / math.sqrt(2 * math.pi) * (x[1] - x[0])
    below = normal(x)
    low, high = 0.0, 12.0
    while high - low > 1e-6:
        middle = (low + high) / 2
        inside = float((density * (below - normal(x - middle)) ** (groups - 1)).sum())
        low, high = (middle, high) if inside < 1 - level else (low, middle)
    return low


def critical_difference(layers: int, tasks: int) -> float:
    return studentized_range(layers) / math.sqrt(2) * math.sqrt(layers * (layers + 1) / (6 * tasks))


def ranks_of(values: list[float], direction: int) -> list[float]:
    """The rank of each value. Rank 1 is the best, and equal values share the mean of their ranks."""
    better = [sum(direction * other > direction * own for other in values) for own in values]
    equal = [values.count(own) for own in values]
    return [b + (e + 1) / 2 for b, e in zip(better, equal)]


def over_tasks(matrix: Matrix | None) -> Ranks | None:
    """Ranks of layers over tasks. Two conditions make a task count: larger or smaller values of its headline metric are
    better, and at least 90% as many layers have a value on it as on the task with the most values. A layer is ranked if
    it has a value on all tasks that count. None if fewer than FEWEST_TASKS tasks count or fewer than two layers are
    ranked."""
    if not matrix:
        return None
    good: dict[str, dict[str, Cell]] = {}
    for (layer, task), cell in matrix.cell.items():
        if isinstance(cell, Cell) and cell.status == "ok" and cell.direction and math.isfinite(cell.mean):
            good.setdefault(task, {})[layer] = cell
    most = max((len(cells) for cells in good.values()), default=0)
    tasks = sorted(task for task, cells in good.items() if len(cells) >= 0.9 * most)
    if len(tasks) < FEWEST_TASKS:
        return None
    some = {layer for task in tasks for layer in good[task]}
    layers = sorted(layer for layer in some if all(layer in good[task] for task in tasks))
    if len(layers) < 2:
        return None
    by_task = [ranks_of([good[t][layer].mean for layer in layers], good[t][layers[0]].direction) for t in tasks]
    means = [sum(ranks[i] for ranks in by_task) / len(tasks) for i in range(len(layers))]
    order = sorted(range(len(layers)), key=lambda i: (means[i], layers[i]))
    return Ranks(
        tasks,
        [layers[i] for i in order],
        [means[i] for i in order],
        sorted(some - set(layers)),
        critical_difference(len(layers), len(tasks)),
    )
