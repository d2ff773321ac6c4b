# SPDX-License-Identifier: Apache-2.0
"""Trained models: runs that differ in their seed alone as one row, and the curves of an experiment."""
import math
import os
import re

import numpy as np

import cells
import style

RATE = "lr"  # of the settings: each layer is shown at its best
MOST = 12  # panels of a figure


def read(rows_of, file):
    """The trained models of one file, each with its settings, its outcome and its curve."""
    absent = dict(status="not run", accuracy=math.nan, loss=math.nan, chance=math.nan)
    runs = {row["run"]: dict(row, **absent, settings={}, curve=[]) for row in rows_of(file, "training_plan")}
    for row in rows_of(file, "training_parameters"):
        name = row["name"] if row["owner"] == "train" else f"{row['owner']}.{row['name']}"
        runs[row["run"]]["settings"][name] = row["text"] or row["value"]
    for row in rows_of(file, "trained"):
        runs[row["run"]].update(row)
    for row in rows_of(file, "training_curves"):
        runs[row["run"]]["curve"].append((row["step"], row["loss"], row["accuracy"]))
    return list(runs.values())


def told(meta):
    """By which command, at which commit and on what the models of a file were trained."""
    facts = [meta.get("command_line", ""), meta.get("git_commit", "")[:7], meta.get("device", "")]
    return ", ".join(fact for fact in facts if fact)


def outcome(run, measure):
    """What a run counts for: one that diverged recalls nothing and has the loss of a guess, as in the statements."""
    if run["status"] != "diverged":
        return run[measure]
    return 0 if measure == "accuracy" else math.log(run["settings"]["vocabulary"])


def row_of(runs, varying):
    first, done = runs[0], [r for r in runs if r["status"] != "not run"]
    mean, error = cells.mean_and_error([outcome(r, "accuracy") for r in done])
    loss, loss_error = cells.mean_and_error([outcome(r, "loss") for r in done])
    shown = {n: first["settings"][n] for n in sorted(varying & set(first["settings"])) if n != "mixer"}
    apart = {n: value for n, value in shown.items() if n != RATE}
    return dict(mixer=first["mixer"], shown=style.params_text(shown), panel=style.params_text(apart), rate=shown.get(RATE),
                mean=mean, error=error, loss=loss, loss_error=loss_error, chance=first["chance"],
                least=min((outcome(r, "accuracy") for r in done), default=math.nan), count=len(done), runs=runs,
                others=", ".join(f"{len([r for r in runs if r['status'] == s])} {s}" for s in ("diverged", "not run")
                                 if any(r["status"] == s for r in runs)))  # fmt: skip


def varied(runs, values):
    """The first line of an experiment: what was varied, and what decides."""
    settings = sorted(name for name, seen in values.items() if len(seen) > 1 and name != "mixer")
    mixers = list(dict.fromkeys(run["mixer"] for run in runs))
    parts = [f"the layer ({', '.join(mixers)})"] if len(mixers) > 1 else []
    parts += [f"{name} ({', '.join(text for *_, text in sorted(map(ordered, values[name])))})" for name in settings]
    seeds = len({run["seed"] for run in runs})
    decides = "loss" if runs[0]["settings"]["task"] == "text" else "accuracy"
    at = ", each layer at its best rate" if RATE in settings else ""
    return (f"Varied: {', '.join(parts) or 'nothing but the seed'}; {seeds} seed{'s' * (seeds != 1)}. "
            f"Decides: {decides} on held-out texts{at}.")  # fmt: skip


def ordered(value):
    """What a value is sorted by, numbers before words; and its text."""
    try:
        return 0, float(value), f"{float(value):g}"
    except ValueError:
        return 1, 0.0, value


def experiments(results):
    """[{name, file, title, printed, varied, rows}] in the order of the files."""
    groups = {}
    for run in results["trainings"]:
        groups.setdefault((run["file"], run["experiment"]), []).append(run)
    found = []
    for (file, name), runs in groups.items():
        values = {}
        for run in runs:
            for setting, value in run["settings"].items():
                values.setdefault(setting, set()).add(str(value))
        varying = {setting for setting, seen in values.items() if len(seen) > 1}
        alike = {}
        for run in runs:
            alike.setdefault(str(sorted(run["settings"].items())), []).append(run)
        told = results["experiments"].get(name, {})
        found.append(dict(name=name or "trained", file=file, title=told.get("title") or name or "Trained models",
                          printed=told.get("printed", ""), varied=varied(runs, values),
                          rows=[row_of(r, varying) for r in alike.values()]))  # fmt: skip
    return found


def suites(results):
    """{file: the name of its page} of the files with trained models: the file's own, without what would be no name."""
    found = {}
    for file in dict.fromkeys(run["file"] for run in results["trainings"]):
        stem = os.path.splitext(os.path.basename(results["files"][file]["path"]))[0].removeprefix("trained_")
        name = re.sub(r"[^A-Za-z0-9_-]", "_", stem) or "suite"
        found[file] = f"{name}-{file}" if name in found.values() else name
    return found


def measure(experiment):
    """What its curves show: of text the loss, for most bytes cannot be told before."""
    return "loss" if experiment["rows"][0]["runs"][0]["settings"]["task"] == "text" else "accuracy"


def panels(experiment):
    """{settings beside the mixer and the rate: rows to draw}, every one of them at its best rate."""
    best, loss = {}, measure(experiment) == "loss"
    merit = lambda row: -row["loss"] if loss else row["mean"]  # noqa: E731
    for row in experiment["rows"]:
        lengths = [len(r["curve"]) for r in row["runs"] if r["status"] == "ok"]
        if not lengths or min(lengths) < 2:
            continue
        mine = best.setdefault(row["panel"], {})
        mine[row["mixer"]] = max(mine.get(row["mixer"], row), row, key=merit)
    return {title: list(rows.values()) for title, rows in best.items()}


def caption(experiment):
    found = panels(experiment)
    text = f"{measure(experiment).capitalize()} on the training's own batches, the mean over seeds; bands: two standard errors."
    if any(row["rate"] is not None for row in experiment["rows"]):
        text += " Each layer at its best learning rate; the others are in the table."
    if len(found) > MOST:
        text += f" The first {MOST} of {len(found)} settings; the others are in the table."
    return text


def curves(experiment):
    """The measure on the training's batches against steps: a line a row, a panel each setting beside the mixer; bands are
    two standard errors of the mean over seeds."""
    found = dict(list(panels(experiment).items())[:MOST])
    if not found:
        return None
    column, shown = (1, "loss") if measure(experiment) == "loss" else (2, "accuracy")
    figure, axes = style.panels(len(found), 3, height=2.4, between=1.5, sharey=True)
    for ax, (title, rows) in zip(axes, found.items()):
        for row in rows:
            drawn = [r["curve"] for r in row["runs"] if r["status"] == "ok"]
            steps = [point[0] for point in drawn[0]]
            values = np.array([[point[column] for point in curve] for curve in drawn])
            mean = values.mean(axis=0)
            look = dict(style.look(row["mixer"]), markevery=max(1, len(steps) // 6))
            label = row["mixer"] if row["rate"] is None else f"{row['mixer']} at {row['rate']:g}"
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
