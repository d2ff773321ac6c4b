# SPDX-License-Identifier: Apache-2.0
"""Trained models: runs that differ in their seed alone as one row, and the curves of an experiment."""
import math

import numpy as np

import cells
import style


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


def row_of(runs, varying):
    first, done = runs[0], [r for r in runs if r["status"] == "ok"]
    mean, error = cells.mean_and_error([r["accuracy"] for r in done])
    shown = {n: first["settings"][n] for n in sorted(varying & set(first["settings"])) if n != "mixer"}
    return dict(mixer=first["mixer"], shown=style.params_text(shown), mean=mean, error=error, chance=first["chance"],
                least=min((r["accuracy"] for r in done), default=math.nan), count=len(done), runs=runs,
                others=", ".join(f"{len([r for r in runs if r['status'] == s])} {s}" for s in ("diverged", "not run")
                                 if any(r["status"] == s for r in runs)))  # fmt: skip


def experiments(results):
    """[{name, title, printed, rows, statements}] in the order of the files."""
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
                          printed=told.get("printed", ""),
                          statements=[s for s in results["trained_statements"] if (s["file"], s["experiment"]) == (file, name)], rows=[row_of(r, varying) for r in alike.values()]))  # fmt: skip
    return found


def curves(experiment):
    """Accuracy on the training's batches against steps: a line a row, a panel each setting beside the mixer; bands are
    two standard errors of the mean over seeds."""
    panels = {}
    for row in experiment["rows"]:
        lengths = [len(r["curve"]) for r in row["runs"] if r["status"] == "ok"]
        if lengths and min(lengths) > 1:
            panels.setdefault(row["shown"], []).append(row)
    if not panels:
        return None
    panels = dict(list(panels.items())[:12])
    figure, axes = style.panels(len(panels), 3, height=2.4, between=1.5, sharey=True)
    for ax, (title, rows) in zip(axes, panels.items()):
        for row in rows:
            drawn = [r["curve"] for r in row["runs"] if r["status"] == "ok"]
            steps = [step for step, _, _ in drawn[0]]
            accuracy = np.array([[a for _, _, a in curve] for curve in drawn])
            mean = accuracy.mean(axis=0)
            look = dict(style.look(row["mixer"]), markevery=max(1, len(steps) // 6))
            (line,) = ax.plot(steps, mean, label=row["mixer"], **look)
            if len(drawn) > 1:
                error = 2 * accuracy.std(axis=0, ddof=1) / math.sqrt(len(drawn))
                ax.fill_between(steps, mean - error, mean + error, color=line.get_color(), alpha=0.15, linewidth=0)
        ax.set_title(style.label(style.wrapped(title, 34)))
        ax.set_ylim(0, 1.03)
        ax.set_xlabel("step")
        ax.set_ylabel("accuracy" if ax in axes[::3] else "")
        style.below(ax, ncol=2)
    return figure
