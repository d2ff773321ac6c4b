#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Curves of time over one size (T, H, Dk or Dv), and the steepest step of each. A size for which the fast kernel does not run
shows as a cliff: a step that is too steep.

    bench/curves.py bench/results/nvidia_h200.curves.csv -o docs/speed-curves.svg    # exit 1 if a curve has a cliff

The rows come from `recollect bench --sweep` and are collected by bench/collect.py. From a point of a curve to the next, the
time and the least possible time (bytes or operations at the card's peak rate) grow by some factors. The factor of the time may
be at most ALLOWED times the other factor, or ALLOWED squared times if Dk and Dv grow together."""
from __future__ import annotations

import argparse
import os
import sys
from dataclasses import dataclass

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
sys.path[:0] = [ROOT, os.path.join(ROOT, "docs")]

import rendering  # noqa: E402
from rendering import Row  # noqa: E402

ALLOWED = 1.5
FEWEST_POINTS = 4
KIND = ("variant", "pass", "storage", "math")
SIZES = ("B", "H", "T", "Dk", "Dv")
AXES = {"T": ("T",), "Dk": ("Dk",), "Dv": ("Dv",), "Dk = Dv": ("Dk", "Dv"), "H": ("H",)}


@dataclass
class Curve:
    kind: tuple[str, ...]
    axis: str
    others: str  # the sizes that are the same at all points
    points: list[tuple[int, float, float]]  # size, seconds, least seconds

    def growth(self, i: int) -> float:
        """Growth of the time from point i to the next, divided by the growth of the least possible time."""
        (_, before, least), (_, after, least_after) = self.points[i : i + 2]
        return after / before / (least_after / least)

    def steepest(self) -> int:
        return max(range(len(self.points) - 1), key=self.growth)

    def allowed(self) -> float:
        return ALLOWED ** len(AXES[self.axis])

    def cliff(self) -> bool:
        return self.growth(self.steepest()) > self.allowed()


def runs(sizes: list[int]) -> list[list[int]]:
    """Splits sorted sizes into curves. A new curve begins at a size that exceeds 1.25 times the previous size by more than
    1."""
    parts: list[list[int]] = []
    for size in sizes:
        if parts and size <= 1.25 * parts[-1][-1] + 1:
            parts[-1].append(size)
        else:
            parts.append([size])
    return parts


def curves(rows: list[Row]) -> list[Curve]:
    found = []
    for axis, moving in AXES.items():
        groups: dict[tuple[tuple[str, ...], str], dict[int, Row]] = {}
        for row in rows:
            if row["source"] == "recollect" and row["status"] == "ok" and len({row[size] for size in moving}) == 1:
                others = ", ".join(f"{size} = {row[size]}" for size in SIZES if size not in moving)
                groups.setdefault((tuple(row[name] for name in KIND), others), {})[int(row[moving[0]])] = row
        for (kind, others), at in groups.items():
            for sizes in runs(sorted(at)):
                if len(sizes) >= FEWEST_POINTS:
                    points = [(s, float(at[s]["median_seconds"]), float(at[s]["limit_seconds"])) for s in sizes]
                    found.append(Curve(kind, axis, others, points))
    return found


def lines_of(rows: list[Row]) -> list[str]:
    """A table with a row per curve."""
    out = ["", "| layer | pass | stored in | size | from | to | others | steepest step | at | allowed |", "|" + "---|" * 10]
    for curve in sorted(curves(rows), key=lambda c: (c.kind, c.axis, c.points[0][0])):
        layer, which, storage, math = curve.kind
        i = curve.steepest()
        sizes = [str(curve.points[j][0]) for j in (0, -1, i, i + 1)]
        mark = " (cliff)" if curve.cliff() else ""
        stored = storage if math == "exact" else f"{storage}, {math} products"
        out.append("| " + " | ".join([layer, which, stored, curve.axis, *sizes[:2], curve.others, f"{curve.growth(i):.2f}x{mark}",
                                      f"{sizes[2]} to {sizes[3]}", f"{curve.allowed():.2f}x"]) + " |")
    return out


def draw(rows: list[Row], path: str) -> None:
    from reports.figures import style

    found = curves(rows)
    panels = list(dict.fromkeys((c.axis, c.points[0][0], c.points[-1][0], c.others) for c in found))
    passes = list(dict.fromkeys(c.kind[1] for c in found))
    layers = list(dict.fromkeys(c.kind[0] for c in found))
    figure = style.Figure(figsize=(2.6 * len(panels), 2.7 * len(passes)), layout="constrained")
    axes = figure.subplots(len(passes), len(panels), squeeze=False)
    for curve in found:
        panel = (curve.axis, curve.points[0][0], curve.points[-1][0], curve.others)
        ax, i = axes[passes.index(curve.kind[1])][panels.index(panel)], layers.index(curve.kind[0])
        ax.plot([p[0] for p in curve.points], [1e3 * p[1] for p in curve.points], color=style.CYCLE[i % 8],
                marker=style.MARKERS[i % 10], markersize=3, label=curve.kind[0])
    for row, which in zip(axes, passes):
        for ax, (axis, _, _, others) in zip(row, panels):
            ax.set_title(f"{which}\n{others}", fontsize=7.5)
            ax.set_xlabel(axis)
            ax.set_yscale("log")
        row[0].set_ylabel("milliseconds")
    axes[0][-1].legend(loc="upper left", bbox_to_anchor=(1.02, 1))
    figure.savefig(path, format="svg", metadata={"Date": None})


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results")
    parser.add_argument("-o", "--output", help="also draw the curves")
    args = parser.parse_args()
    rows = rendering.read(args.results)[1]
    print("\n".join(lines_of(rows)[1:]))
    if args.output:
        draw(rows, args.output)
    return int(any(curve.cliff() for curve in curves(rows)))


if __name__ == "__main__":
    sys.exit(main())
