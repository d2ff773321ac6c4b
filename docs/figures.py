#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the figures of docs/ from files in the tree, as SVG and PDF:

    docs/figures.py            # writes docs/figures/*

recall_by_state is drawn from docs/data/recall-by-state.csv, recall_by_throughput from it and bench/results, the
heat maps from docs/data/heat-maps.csv, the figures of trained models from reports/results/*.h5."""

from __future__ import annotations

import glob
import math
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
sys.path[:0] = [ROOT, os.path.join(ROOT, "reports", "python")]

import rendering  # noqa: E402
from reports import cells, command, trainings  # noqa: E402
from reports.figures import heat, runs, style, trained  # noqa: E402
from reports.figures.style import Figure  # noqa: E402
from reports.records import Cell  # noqa: E402
from reports.trainings import TrainedExperiment  # noqa: E402

LEARNED = 0.5  # a window is shown for layers whose best accuracy is at least this,
RATES = 4  # and which were trained at so many rates


SHAPE = "4", "16", "4096", "128", "128"  # B, H, T, Dk, Dv
DEVICE = "nvidia_h100_80gb_hbm3"


def untrained() -> list[Cell]:
    """Recall of every layer, tuned, at equal widths."""
    mine = []
    for row in rendering.read(os.path.join(HERE, "data", "recall-by-state.csv"))[1]:
        values = [float(value) for value in row["accuracies"].split()]
        mean, error = cells.mean_and_error(values)
        size = float(row["bytes"])
        mine.append(Cell("", "recall", row["layer"], "ok", row["setting"], "accuracy", 1, len(values), mean, error, {},
                         family=row["family"], chance=1 / 32, state_bytes=size, values=values))  # fmt: skip
    return mine


def recall_by_state() -> Figure | None:
    return runs.recall_of(untrained())


def recall_by_throughput() -> Figure | None:
    """The tokens per second of a layer's fastest form, forward in bf16, against the untrained recall of the layer."""
    found = {cell.variant: cell for cell in untrained()}
    rows = rendering.read(os.path.join(ROOT, "bench", "results", DEVICE + ".csv"))[1]
    figure = style.new_figure(6.2, 2.8)
    ax = figure.subplots()
    best: dict[str, float] = {}
    for row in rows:
        mine = row["source"] == "recollect" and row["status"] == "ok" and not row["without"] and row["variant"] in found
        at = tuple(row[name] for name in ("B", "H", "T", "Dk", "Dv", "storage", "pass"))
        if mine and at == (*SHAPE, "bf16", "forward"):
            rate = int(row["B"]) * int(row["T"]) / float(row["median_seconds"])
            best[row["variant"]] = max(rate, best.get(row["variant"], 0))
    for layer, rate in sorted(best.items()):
        cell = found[layer]
        ax.errorbar(rate, cell.mean, yerr=cell.error, capsize=2, label=layer, **style.look(layer))
    ax.set_xscale("log")
    ax.margins(x=0.15, y=0.3)
    ax.set_xlabel("tokens per second")
    ax.set_ylabel("recall, untrained")
    style.below(ax, ncol=3)
    return figure


def heat_map(experiment: str) -> Figure | None:
    panels: dict[str, heat.HeatMap] = {}
    rows = rendering.read(os.path.join(HERE, "data", "heat-maps.csv"))[1]
    mine = [row for row in rows if row["experiment"] == experiment]
    xs, ys = (sorted({float(row[f"at {name}"]) for row in mine}) for name in ("x", "y"))
    for row in mine:
        empty = [[math.nan] * len(xs) for _ in ys]
        panel = panels.setdefault(row["layer"], heat.HeatMap(row["layer"], row["x"], row["y"], xs, ys, empty))
        panel.values[ys.index(float(row["at y"]))][xs.index(float(row["at x"]))] = float(row["accuracy"])
    return heat.drawn(list(panels.values()), "accuracy")


def experiments() -> list[TrainedExperiment]:
    paths = sorted(glob.glob(os.path.join(ROOT, "reports", "results", "*.h5")))
    return trainings.experiments(command.load(paths))


def learning_rates() -> Figure | None:
    """The window of rates of every layer that learned its task at some rate."""
    return trained.window_rows(
        [
            (experiment.name, window)
            for experiment in experiments()
            for window in trained.windows(experiment)
            if window.best.mean >= LEARNED and len(window.rows) >= RATES
        ]
    )


def trained_recall_by_state() -> Figure | None:
    """None until models of several sizes are in reports/results."""
    return trained.against_state(experiments())


def trained_words() -> Figure | None:
    """None until models of word problems are in reports/results."""
    return trained.against_words(experiments())


FIGURES = {
    "recall_by_state": recall_by_state,
    "recall_by_throughput": recall_by_throughput,
    "recall_pairs_by_length": lambda: heat_map("recall_pairs_by_length"),
    "needle_depth_by_length": lambda: heat_map("needle_depth_by_length"),
    "learning_rates": learning_rates,
    "trained_recall_by_state": trained_recall_by_state,
    "trained_words": trained_words,
}


def main(folder: str = os.path.join(HERE, "figures")) -> None:
    os.makedirs(folder, exist_ok=True)
    for name, draw in FIGURES.items():
        if figure := draw():
            style.save(figure, folder, name, png=False)
            style.save_pdf(figure, folder, name)


if __name__ == "__main__":
    main()
