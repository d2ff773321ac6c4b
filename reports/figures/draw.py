# SPDX-License-Identifier: Apache-2.0
"""The figures of each page, and how they are drawn into its folder."""
from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import Any, Callable

from reports import matrix, ranks, trainings, workers
from reports.figures import (
    claims as claim_figures,
    curves,
    equivalence,
    heat,
    ledger,
    runs as run_figures,
    speed as speed_figures,
    style,
    trained as trained_figures,
)
from reports.figures.style import Figure
from reports.progress import Progress
from reports.records import Picture, Results


# page -> (name, function that draws it from the results, caption)
FIGURES: dict[str, list[tuple[str, Callable[[Results], Figure | None], str]]] = {
    "index": [
        (
            "recall_by_state",
            run_figures.recall_by_state,
            "Recall against the size of the state, every layer tuned on separate seeds; bars: 95% interval of the mean "
            "over seeds. Layers with the same value share a mark. Bold: the Pareto front, the layers that no layer "
            "with a smaller or equal state beats. Hollow: layers with fixed weights, to which nothing is written.",
        ),
    ],
    "noise": [
        (
            "snr_curves",
            ledger.snr_curves,
            "Inverse signal-to-noise ratio per stored pair against key width. Dashes and ticks: predicted. Marks: "
            "measured ± 1 standard error (none where nothing is sampled); hollow marks: the statement.",
        ),
        (
            "paper_error",
            ledger.paper_error,
            "Relative error of each printed large-d form, compared with the measured value. Where a line falls, the "
            "form is right in the limit; where it is flat, it is not.",
        ),
    ],
    "layers": [
        (
            "accuracy_by_load",
            lambda results: run_figures.by_load(results.cells),
            "Accuracy of the last of n reads against n / d. Dashed: the linear memory's theory, with all terms of the "
            "read taken as Gaussian and independent.",
        ),
        (
            "capacity",
            lambda results: run_figures.capacities(matrix.ranked(results.matrix, "capacity")),
            "The largest number of pairs that each layer recalls with 99% accuracy.",
        ),
        (
            "mean_ranks",
            lambda results: run_figures.mean_ranks(ranks.over_tasks(results.matrix)),
            "Mean rank of every layer over the tasks. Filled: layers that do not differ significantly from the best "
            "(Nemenyi's test at 0.05, Demsar 2006). Layers that could not run one of the tasks are left out.",
        ),
    ],
    "sequences": [
        (
            "swap_accuracy",
            curves.swap_accuracy,
            "Fraction of memories whose values are all at the right keys after each swap. One panel per family; grey: "
            "median and middle 80% of all layers.",
        ),
        (
            "regression_loss",
            curves.regression_loss,
            "Squared error of the one-step prediction; the process switches at a quarter of the sequence. Grey: median "
            "and middle 80% of all layers.",
        ),
    ],
    "forms": [
        (
            "equivalence",
            equivalence.equivalence,
            "Largest difference between each fast form and its recurrence, over all T, against chunk length.",
        ),
        (
            "bound_used",
            equivalence.bound_used,
            "Largest error of each fast form, divided by the derived bound of its rounding. A value to the right of "
            "the dashed line is an error, not rounding.",
        ),
    ],
    "statistics": [
        (
            "pulls",
            ledger.pulls,
            "(Measured - predicted) / standard error of all sampled obligations without a known bias. If theory and "
            "standard errors are right, the bars follow the curve, a normal distribution.",
        ),
        (
            "power",
            ledger.power,
            "Left: the relative error of its prediction that each sampled point detects with 95% power. Right: "
            "measured value / bound, for each bound.",
        ),
    ],
    "speed": [
        (
            "time_against_length",
            speed_figures.time_against_length,
            "Time per pass against T, log-log, with the fitted exponent; bars: the bootstrap interval of the median.",
        ),
        (
            "roofline",
            speed_figures.roofline,
            "Operations per second against operations per byte, under this machine's measured peak rates. Above the "
            "line: the form does fewer operations than the definition.",
        ),
    ],
}


COST = (
    "Every layer's headline against its cost; bars: 95% interval over seeds. Named: layers that beat a guess and that "
    "no cheaper layer beats. Hollow: layers with fixed weights, to which nothing is written; they are not named."
)


@dataclass
class Job:
    """A figure that make(of) draws; make returns None if the data for it are missing."""

    name: str
    make: Callable[[Any], Figure | str | None]
    of: Any
    caption: str
    alt: str
    folder: str
    png: bool = True


def draw_one(job: Job) -> None:
    """Draws and saves one figure. Does nothing if the data for it are missing."""
    figure = job.make(job.of)
    if figure:
        style.save(figure, job.folder, job.name, job.png)


def jobs_of(results: Results, folder: str) -> list[Job]:
    jobs = [
        Job(name, make, results, caption, caption, folder) for page in FIGURES.values() for name, make, caption in page
    ]
    for task in results.matrix.tasks if results.matrix else ():
        mine = matrix.ranked(results.matrix, task)
        untuned = " At untuned defaults." if any(c.setting == "untuned" for c in mine) else ""
        alt = f"{task}: accuracy against cost"
        jobs.append(Job(f"cost_{task}", run_figures.against_cost, mine, COST + untuned, alt, folder))
        swept = [c for c in results.cells if c.task == task and not c.experiment]
        caption = "The headline against the swept parameter, one line per layer; bars: one standard error over seeds."
        alt = f"{task} against the swept parameter"
        jobs.append(Job(f"sweep_{task}", run_figures.experiment, swept, caption, alt, folder))
    for name, described in results.experiments.items():
        mine = [c for c in results.cells if c.experiment == name]  # empty for [[train]] entries
        jobs.append(Job(f"experiment_{name}", run_figures.experiment, mine, described.title, described.title, folder))
        alt = f"{described.title}: heat maps"
        jobs.append(Job(f"heat_{name}", heat.heat_maps, mine, "The same as heat maps.", alt, folder))
    trained = trainings.experiments(results)
    for file, name in trainings.suites(results).items():
        mine_of = [e for e in trained if e.file == file]
        alt = f"{name}: accuracy against the bytes of the state"
        jobs.append(Job(f"state_{file}", trained_figures.against_state, mine_of, trained_figures.STATE, alt, folder))
        alt = f"{name}: the longest word solved"
        jobs.append(Job(f"words_{file}", trained_figures.against_words, mine_of, trained_figures.WORDS, alt, folder))
    for i, e in enumerate(trained):
        alt = f"{e.title}: {trainings.measure(e)} against steps"
        jobs.append(Job(f"training_{i}", trainings.curves, e, trainings.caption(e), alt, folder))
        alt = f"{e.title}: accuracy against the learning rate"
        jobs.append(Job(f"rates_{i}", trained_figures.against_rate, e, trained_figures.RATES, alt, folder))
    jobs += [
        Job(f"claim_{c.id}", claim_figures.claim_figure, c, "", claim_figures.alt_text(c), folder, png=False)
        for c in results.claims
        if c.points
    ]
    return jobs


def drawn(job: Job) -> Picture | None:
    """The saved figure of a job, with its size in CSS pixels; None if no figure was saved."""
    path = os.path.join(job.folder, job.name + ".svg")
    if not os.path.exists(path):
        return None
    with open(path, encoding="utf-8") as f:
        size = re.search(r'width="([\d.]+)pt" height="([\d.]+)pt"', f.read(4096))
    assert size, f"{path} has no size"
    width, height = (round(float(points) * 96 / 72) for points in size.groups())
    return Picture(job.name, width, height, job.caption, job.alt, job.png)


def draw(results: Results, folder: str, descriptor: int | None = None) -> dict[str, Picture]:
    """Draws into the folder every figure for which there are data, and returns the figures by name. Uses all cores, and
    writes its progress to the file descriptor `descriptor`."""
    os.makedirs(folder)
    jobs = sorted(jobs_of(results, folder), key=lambda job: not job.png)  # figures with many panels first
    progress = Progress("figures", len(jobs), descriptor)
    try:
        workers.spread(draw_one, jobs, progress.advance)
    finally:
        progress.end()
    return {picture.name: picture for picture in map(drawn, jobs) if picture}
