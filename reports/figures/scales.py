# SPDX-License-Identifier: Apache-2.0
"""Axes of the plots that are written as SVG. An axis maps values to 0 ... 1 and chooses ticks whose labels fit."""
from __future__ import annotations

import math
from typing import Sequence, Union

from reports.figures.style import RAISED, number

MOST_LABELS = 80  # characters in all tick labels of an axis


class Linear:
    def __init__(self, values: Sequence[float]) -> None:
        self.unit: float = (
            max(abs(v) for v in values) or 1.0
        )  # the difference of two floating-point numbers may overflow
        low, high = min(values) / self.unit, max(values) / self.unit
        if high - low < 1e-12:  # equal up to rounding
            low, high = low - 0.5, high + 0.5
        edge = 0.04 * (high - low)
        self.low, self.high = low - edge, high + edge

    def place(self, value: float) -> float:
        return (value / self.unit - self.low) / (self.high - self.low)

    def ticks(self) -> list[tuple[float, str]]:
        """[(value, label)] at the multiples of a step, which is 1, 2, 2.5 or 5 times a power of ten. The axis is at
        most 8 steps long, and fewer if the labels would not have space."""
        for most in range(8, 0, -1):
            raw = (self.high - self.low) / most
            power: float = 10.0 ** math.floor(math.log10(raw * self.unit) + 1e-9) / self.unit
            step = next(power * m for m in (1, 2, 2.5, 5, 10) if power * m >= raw * (1 - 1e-9))
            at = [i * step for i in range(math.ceil(self.low / step), math.floor(self.high / step) + 1)]
            digits = 2 + math.ceil(math.log10(max(1.0, max((abs(x) for x in at), default=1.0) / step)))
            shown = [(x * self.unit, number(x * self.unit, digits)) for x in at]
            if sum(len(label) + 2 for _, label in shown) <= MOST_LABELS:
                return shown
        return []


class Log:
    def __init__(self, values: Sequence[float]) -> None:
        low, high = math.log10(min(values)), math.log10(max(values))
        edge = 0.04 * (high - low)
        self.low, self.high = low - edge, high + edge

    def place(self, value: float) -> float:
        return (math.log10(value) - self.low) / (self.high - self.low) if value > 0 else 0.0

    def ticks(self) -> list[tuple[float, str]]:
        """Ticks at powers of ten, at most eight."""
        first, last = math.ceil(self.low), math.floor(self.high)
        return [(10.0**p, number_of_power(p)) for p in range(first, last + 1, -(-(last - first + 1) // 8) or 1)]


class Symmetric:
    """An axis for values of both signs: linear for sizes up to `near`, logarithmic for larger sizes."""

    def __init__(self, values: Sequence[float]) -> None:
        sizes = sorted(abs(v) for v in values if v)
        self.near = 10.0 ** max(math.floor(math.log10(sizes[0])), math.ceil(math.log10(sizes[-1])) - 6)
        self.largest = {sign: max((sign * v for v in values), default=0.0) for sign in (-1, 1)}
        low, high = self.bent(min(values)), self.bent(max(values))
        edge = 0.04 * (high - low)
        self.low, self.high = low - edge, high + edge

    def bent(self, value: float) -> float:
        size = abs(value) / self.near
        return math.copysign(size if size < 1 else 1 + math.log10(size), value)

    def place(self, value: float) -> float:
        return (self.bent(value) - self.low) / (self.high - self.low)

    def ticks(self) -> list[tuple[float, str]]:
        """If there are values on both sides of zero: ticks at zero and, on each side, at up to two powers of ten, so
        far apart that the labels do not overlap. Otherwise ticks at up to three powers of ten."""
        around_zero = min(self.largest.values()) >= 0
        shown = [(0.0, "0")] if around_zero else []
        for sign, largest in self.largest.items():
            top = math.floor(math.log10(largest)) if largest > 0 else 0
            for power in range(top, top - 3, -2 if around_zero else -1):
                if self.near * (1 - 1e-9) <= 10.0**power <= largest * (1 + 1e-9):
                    shown.append((sign * 10.0**power, ("−" if sign < 0 else "") + number_of_power(power)))
        return sorted(t for t in shown if 0 <= self.place(t[0]) <= 1)


Axis = Union[Linear, Log, Symmetric]


def number_of_power(p: int) -> str:
    return "1" if p == 0 else "10" + str(p).translate(RAISED)


def scale(values: Sequence[float]) -> Axis:
    """The axis for these values: logarithmic if their sizes differ much, else linear."""
    sizes = sorted(abs(v) for v in values if v)
    if not sizes or sizes[-1] / sizes[0] <= 300:
        return Linear(values)
    return Log(values) if min(values) > 0 else Symmetric(values)
