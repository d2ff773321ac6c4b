#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the figures of docs/ from files in the tree, as SVG and PDF:

    docs/figures.py            # writes docs/figures/*

recall_by_state is drawn from docs/data/recall-by-state.csv, the figures of trained models from reports/results/*.h5."""

from __future__ import annotations

import glob
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
sys.path[:0] = [ROOT, os.path.join(ROOT, "reports", "python")]

import rendering  # noqa: E402
from reports import cells, command, trainings  # noqa: E402
from reports.figures import runs, style, trained  # noqa: E402
from reports.figures.style import Figure  # noqa: E402
from reports.records import Cell  # noqa: E402
from reports.trainings import TrainedExperiment  # noqa: E402

LEARNED = 0.5  # a window is shown for layers whose best accuracy is at least this,
RATES = 4  # and which were trained at so many rates


def recall_by_state() -> Figure | None:
    """Untrained, every layer tuned, at equal widths."""
    mine = []
    for row in rendering.read(os.path.join(HERE, "data", "recall-by-state.csv"))[1]:
        values = [float(value) for value in row["accuracies"].split()]
        mean, error = cells.mean_and_error(values)
        size = float(row["bytes"])
        mine.append(Cell("", "recall", row["layer"], "ok", row["setting"], "accuracy", 1, len(values), mean, error, {},
                         family=row["family"], chance=1 / 32, state_bytes=size, values=values))  # fmt: skip
    return runs.recall_of(mine)


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


FIGURES = {
    "recall_by_state": recall_by_state,
    "learning_rates": learning_rates,
    "trained_recall_by_state": trained_recall_by_state,
}


def main() -> None:
    folder = os.path.join(HERE, "figures")
    os.makedirs(folder, exist_ok=True)
    for name, draw in FIGURES.items():
        if figure := draw():
            style.save(figure, folder, name, png=False)
            style.save_pdf(figure, folder, name)


if __name__ == "__main__":
    main()
