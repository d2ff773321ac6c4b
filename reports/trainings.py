# SPDX-License-Identifier: Apache-2.0
"""Tables and curves of trained models. A row of a table stands for runs that differ only in their seed."""
from __future__ import annotations

import math
import os
import re
from dataclasses import dataclass, field

import numpy as np

from recollect.schema import Value
from reports import cells
from reports.figures import style
from reports.figures.style import Figure
from reports.records import Picture, Results, Statement, Trained

RATE = "lr"  # the learning rate; each layer is shown at its best rate
MOST = 12  # panels per figure


@dataclass
class TrainedRow:
    """Trained models that differ only in their seed, with mean and standard error of accuracy and loss."""

    mixer: str
    shown: str  # the settings that vary in the experiment, as text
    panel: str  # `shown` without the learning rate
    rate: Value | None
    mean: float
    error: float
    loss: float
    loss_error: float
    chance: float
    least: float  # the lowest accuracy
    count: int
    others: str  # how many diverged or did not run
    runs: list[Trained]


@dataclass
class TrainedExperiment:
    """An experiment of one file: its rows, statements and figures."""

    name: str
    file: int
    title: str
    printed: str  # what the paper prints about the experiment
    varied: str
    rows: list[TrainedRow]
    statements: list[Statement] = field(default_factory=list)
    pictures: list[Picture] = field(default_factory=list)  # its curves, and its accuracy against the learning rate


def told(meta: dict[str, str]) -> str:
    """The command, commit and device with which the models of a file were trained."""
    facts = [meta.get("command_line", ""), meta.get("git_commit", "")[:7], meta.get("device", "")]
    return ", ".join(fact for fact in facts if fact)


def outcome(run: Trained, measure: str) -> float:
    """The accuracy or loss of a run. A diverged run has accuracy 0 and the loss of a guess, as for statements
    (harness/train/statements.cpp)."""
    if run.status != "diverged":
        return run.accuracy if measure == "accuracy" else run.loss
    return 0 if measure == "accuracy" else math.log(float(run.settings["vocabulary"]))


def row_of(runs: list[Trained], varying: set[str]) -> TrainedRow:
    first, done = runs[0], [r for r in runs if r.status != "not run"]
    mean, error = cells.mean_and_error([outcome(r, "accuracy") for r in done])
    loss, loss_error = cells.mean_and_error([outcome(r, "loss") for r in done])
    shown = {n: first.settings[n] for n in sorted(varying & set(first.settings)) if n != "mixer"}
    apart = {n: value for n, value in shown.items() if n != RATE}
    return TrainedRow(
        mixer=first.mixer,
        shown=style.params_text(shown),
        panel=style.params_text(apart),
        rate=shown.get(RATE),
        mean=mean,
        error=error,
        loss=loss,
        loss_error=loss_error,
        chance=first.chance,
        least=min((outcome(r, "accuracy") for r in done), default=math.nan),
        count=len(done),
        runs=runs,
        others=", ".join(
            f"{len([r for r in runs if r.status == s])} {s}"
            for s in ("diverged", "not run")
            if any(r.status == s for r in runs)
        ),
    )


def varied(runs: list[Trained], values: dict[str, set[str]]) -> str:
    """The first line about an experiment: which settings vary, and whether accuracy or loss compares the models."""
    settings = sorted(name for name, seen in values.items() if len(seen) > 1 and name != "mixer")
    mixers = list(dict.fromkeys(run.mixer for run in runs))
    parts = [f"the layer ({', '.join(mixers)})"] if len(mixers) > 1 else []
    parts += [f"{name} ({', '.join(text for *_, text in sorted(map(ordered, values[name])))})" for name in settings]
    seeds = len({run.seed for run in runs})
    decides = "loss" if runs[0].settings["task"] == "text" else "accuracy"
    at = ", each layer at its best rate" if RATE in settings else ""
    return (f"Varied: {', '.join(parts) or 'nothing but the seed'}; {seeds} seed{'s' * (seeds != 1)}. "
            f"Compared by {decides} on held-out texts{at}.")  # fmt: skip


def ordered(value: str) -> tuple[int, float, str]:
    """A sort key of a setting's value, which puts numbers before words. Its last element is the text to display."""
    try:
        return 0, float(value), f"{float(value):g}"
    except ValueError:
        return 1, 0.0, value


def experiments(results: Results) -> list[TrainedExperiment]:
    """The experiments of all files, in the order of the files."""
    groups: dict[tuple[int, str], list[Trained]] = {}
    for run in results.trainings:
        groups.setdefault((run.file, run.experiment), []).append(run)
    found = []
    for (file, name), runs in groups.items():
        values: dict[str, set[str]] = {}
        for run in runs:
            for setting, value in run.settings.items():
                values.setdefault(setting, set()).add(str(value))
        varying = {setting for setting, seen in values.items() if len(seen) > 1}
        alike: dict[str, list[Trained]] = {}
        for run in runs:
            alike.setdefault(str(sorted(run.settings.items())), []).append(run)
        told = results.experiments.get(name)
        found.append(TrainedExperiment(name or "trained", file, (told and told.title) or name or "Trained models",
                                       (told and told.printed) or "", varied(runs, values),
                                       [row_of(r, varying) for r in alike.values()]))  # fmt: skip
    return found


def suites(results: Results) -> dict[int, str]:
    """{file: name of its page} for files with trained models. The name is that of the file, with _ for characters that
    the name of a page must not have."""
    found: dict[int, str] = {}
    for file in dict.fromkeys(run.file for run in results.trainings):
        stem = os.path.splitext(os.path.basename(results.files[file].path))[0].removeprefix("trained_")
        name = re.sub(r"[^A-Za-z0-9_-]", "_", stem) or "suite"
        found[file] = f"{name}-{file}" if name in found.values() else name
    return found


def measure(experiment: TrainedExperiment) -> str:
    """What the curves of an experiment show: accuracy, but for task=text the loss, because most bytes of a text cannot
    be predicted."""
    return "loss" if experiment.rows[0].runs[0].settings["task"] == "text" else "accuracy"


def panels(experiment: TrainedExperiment) -> dict[str, list[TrainedRow]]:
    """{settings other than mixer and learning rate: the rows to draw}. Each mixer has one row, at its best learning
    rate."""
    best: dict[str, dict[str, TrainedRow]] = {}
    loss = measure(experiment) == "loss"

    def merit(row: TrainedRow) -> float:
        return -row.loss if loss else row.mean

    for row in experiment.rows:
        lengths = [len(r.curve) for r in row.runs if r.status == "ok"]
        if not lengths or min(lengths) < 2:
            continue
        mine = best.setdefault(row.panel, {})
        mine[row.mixer] = max(mine.get(row.mixer, row), row, key=merit)
    return {title: list(rows.values()) for title, rows in best.items()}


def caption(experiment: TrainedExperiment) -> str:
    found = panels(experiment)
    what = measure(experiment).capitalize()
    text = f"{what} on the training batches, mean over seeds; bands: two standard errors."
    if any(row.rate is not None for row in experiment.rows):
        text += " Each layer at its best learning rate; the others are in the table."
    if len(found) > MOST:
        text += f" The first {MOST} of {len(found)} settings; the others are in the table."
    return text


def curves(experiment: TrainedExperiment) -> Figure | None:
    """Accuracy or loss on the training batches against steps. There is a panel for each combination of settings other
    than mixer and learning rate, with a line for each mixer. Bands are two standard errors of the mean over seeds."""
    found = dict(list(panels(experiment).items())[:MOST])
    if not found:
        return None
    column, shown = (1, "loss") if measure(experiment) == "loss" else (2, "accuracy")
    figure, axes = style.panels(len(found), 3, height=2.4, between=1.5, sharey=True)
    for ax, (title, rows) in zip(axes, found.items()):
        for row in rows:
            drawn = [r.curve for r in row.runs if r.status == "ok"]
            steps = [point[0] for point in drawn[0]]
            values = np.array([[point[column] for point in curve] for curve in drawn])
            mean = values.mean(axis=0)
            look = dict(style.look(row.mixer), markevery=max(1, len(steps) // 6))
            label = row.mixer if row.rate is None else f"{row.mixer} at {row.rate:g}"
            (line,) = ax.plot(steps, mean, label=label, **look)
            if len(drawn) > 1:
                error = 2 * values.std(axis=0, ddof=1) / math.sqrt(len(drawn))
                ax.fill_between(steps, mean - error, mean + error, color=line.get_color(), alpha=0.15, linewidth=0)
        ax.set_title(style.label(style.wrapped(title, 30)))
        if shown == "accuracy":
            ax.set_ylim(0, 1.03)
        ax.set_xlabel("step")
        ax.set_ylabel(shown if ax in axes[::3] else "")
        style.below(ax, ncol=2)
    return figure
