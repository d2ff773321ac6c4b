# SPDX-License-Identifier: Apache-2.0
"""Figures of trained models: accuracy as a function of the learning rate, and of the state's size in bytes."""
from __future__ import annotations

import math
from dataclasses import dataclass

from reports import cells
from reports.figures import style
from reports.figures.style import Figure, INK, MUTED
from reports.trainings import MOST, TrainedExperiment, TrainedRow, measure

NEAR_BEST = 0.9  # a rate is in a layer's window if its accuracy is at least this share of the best
FEWEST_RATES = 3


@dataclass
class Window:
    """The learning rates at which one layer of an experiment was trained, and its window: the rates nearly as good as
    the best."""

    mixer: str
    panel: str  # the settings besides the rate
    rows: list[TrainedRow]  # in the order of their rates
    best: TrainedRow
    low: float
    high: float

    def width(self) -> float:
        """The window's largest rate divided by its smallest; 1 if it contains only one rate."""
        return self.high / self.low

    def is_open(self) -> bool:
        """Whether the window contains the smallest or the largest rate tried, so that the true window may be wider."""
        return self.low == rate_of(self.rows[0]) or self.high == rate_of(self.rows[-1])


def rate_of(row: TrainedRow) -> float:
    assert isinstance(row.rate, (int, float))
    return float(row.rate)


def windows(experiment: TrainedExperiment) -> list[Window]:
    """A window for each layer and setting that was trained at several rates; [] if the loss decides, not the
    accuracy."""
    groups: dict[tuple[str, str], list[TrainedRow]] = {}
    for row in experiment.rows:
        if isinstance(row.rate, (int, float)) and math.isfinite(row.mean):
            groups.setdefault((row.mixer, row.panel), []).append(row)
    found = []
    for (mixer, panel), rows in groups.items():
        if len(rows) < FEWEST_RATES or measure(experiment) == "loss":
            continue
        rows.sort(key=rate_of)
        at = max(range(len(rows)), key=lambda i: rows[i].mean)
        if rows[at].mean == 0:  # all diverged
            continue
        first = last = at
        while first > 0 and rows[first - 1].mean >= NEAR_BEST * rows[at].mean:
            first -= 1
        while last + 1 < len(rows) and rows[last + 1].mean >= NEAR_BEST * rows[at].mean:
            last += 1
        found.append(Window(mixer, panel, rows, rows[at], rate_of(rows[first]), rate_of(rows[last])))
    return found


RATES = (
    "Accuracy against the learning rate, mean over seeds; bars: one standard error. Thick: the window, the rates "
    "around the best whose accuracy is at least 90% of the best."
)


def against_rate(experiment: TrainedExperiment) -> Figure | None:
    """One panel for each combination of the settings other than layer and rate, with one line per layer. The line is
    thick in the layer's window."""
    panels: dict[str, list[Window]] = {}
    for window in windows(experiment):
        panels.setdefault(window.panel, []).append(window)
    if not panels:
        return None
    shown = list(panels.items())[:MOST]
    figure, axes = style.panels(len(shown), 3, height=2.4, between=1.5, sharey=True)
    for ax, (title, mine) in zip(axes, shown):
        for window in mine:
            look = style.look(window.mixer)
            ax.errorbar([rate_of(r) for r in window.rows], [r.mean for r in window.rows],
                        yerr=[r.error if math.isfinite(r.error) else 0 for r in window.rows],
                        capsize=2, elinewidth=0.8, label=window.mixer, **look)  # fmt: skip
            inside = [r for r in window.rows if window.low <= rate_of(r) <= window.high]
            drawn = dict(color=look["color"], linewidth=4, alpha=0.35)
            ax.plot([rate_of(r) for r in inside], [r.mean for r in inside], **drawn)
        ax.set_title(style.label(style.wrapped(title, 30)))
        ax.set_xscale("log")
        ax.set_ylim(0, 1.03)
        ax.set_xlabel("learning rate")
        ax.set_ylabel("accuracy" if ax in axes[::3] else "")
        style.below(ax, ncol=2)
    return figure


STATE = (
    "Accuracy against the bytes of the states of all layers and heads after a text, each layer at its best learning "
    "rate; one mark per width, bars: one standard error over seeds. Black: the Pareto front, the layers that no "
    "smaller state beats."
)


@dataclass
class Sized:
    """A layer with a state of one size, at its best rate."""

    mixer: str
    state: float
    row: TrainedRow


def sized(experiments: list[TrainedExperiment]) -> dict[str, list[Sized]]:
    """{texts: the layers trained on them}, only for texts on which at least one layer was trained with several state
    sizes."""
    best: dict[str, dict[tuple[str, float], TrainedRow]] = {}
    for experiment in experiments:
        for row in experiment.rows:
            state = row.runs[0].metrics.get("state_bytes")
            if state is None or not math.isfinite(row.mean):
                continue
            settings = row.runs[0].settings
            names = [n for n in ("task", "length", "pairs") if settings.get(n)]
            if settings.get("key_length", 1) != 1:
                names.append("key_length")
            texts = style.params_text({n: settings[n] for n in names})
            mine = best.setdefault(texts, {})
            other = mine.setdefault((row.mixer, state), row)
            mine[row.mixer, state] = max(other, row, key=lambda r: r.mean)
    found = {}
    for texts, layers in best.items():
        if len({mixer for mixer, _ in layers}) > 1 and len(layers) > len({mixer for mixer, _ in layers}) + 1:
            found[texts] = [Sized(mixer, state, row) for (mixer, state), row in sorted(layers.items())]
    return found


def against_state(experiments: list[TrainedExperiment]) -> Figure | None:
    """One panel per kind of text. It has one line per layer, which joins the layer's widths, and the Pareto front."""
    texts = sized(experiments)
    if not texts:
        return None
    figure, axes = style.panels(len(texts), 2, height=3.2, between=1.2, sharey=True)
    for ax, (title, all_of) in zip(axes, texts.items()):
        for mixer in dict.fromkeys(one.mixer for one in all_of):
            mine = [one for one in all_of if one.mixer == mixer]
            ax.errorbar([one.state for one in mine], [one.row.mean for one in mine],
                        yerr=[one.row.error if math.isfinite(one.row.error) else 0 for one in mine],
                        capsize=2, elinewidth=0.8, label=mixer, **style.look(mixer))  # fmt: skip
        front = [all_of[i] for i in cells.pareto([(one.state, one.row.mean) for one in all_of], 1)]
        ax.plot([one.state for one in front], [one.row.mean for one in front], color=INK, linewidth=0.9,
                linestyle=":", drawstyle="steps-post")  # fmt: skip
        ax.set_title(style.label(style.wrapped(title, 40)))
        ax.set_xscale("log")
        ax.set_ylim(0, 1.03)
        named = style.wrapped(", ".join(dict.fromkeys(one.mixer for one in front)), 46)
        ax.set_xlabel(f"bytes of the state\nfront: {named}")
        ax.set_ylabel("accuracy" if ax in axes[::2] else "")
        style.below(ax, ncol=3)
        ax.get_legend().set_bbox_to_anchor((-0.05, -0.28))
    return figure


def window_rows(windows_of: list[tuple[str, Window]]) -> Figure | None:
    """One row per layer of an experiment: the rates tried (ticks), the window (bar) and the best rate (dot)."""
    if not windows_of:
        return None
    figure = style.new_figure(9, 0.9 + 0.17 * len(windows_of))
    ax = figure.subplots()
    names = []
    for y, (experiment, window) in enumerate(windows_of):
        look = style.look(window.mixer)
        tried = [rate_of(r) for r in window.rows]
        ax.plot(tried, [y] * len(tried), "|", color=MUTED, markersize=5)
        ax.plot([window.low, window.high], [y, y], color=look["color"], linewidth=4, alpha=0.45, solid_capstyle="butt")
        ax.plot(rate_of(window.best), y, "o", color=look["color"], markersize=4)
        settings = ", ".join(part for part in (window.panel,) if part)
        names.append(f"{window.mixer}: {experiment}" + (f", {settings}" if settings else ""))
    ax.set_yticks(range(len(names)), names, fontsize=6.5)
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.set_xscale("log")
    ax.set_xlabel("learning rate; ticks: tried, dot: best, bar: accuracy at least 90% of the best")
    return figure


WORDS = (
    "The longest word solved: letters before the first at which fewer than 90% of the held-out words are right. Dots: "
    "seeds, each layer at the learning rate with the longest on average; line: the length of training."
)


def against_words(experiments: list[TrainedExperiment]) -> Figure | None:
    """One panel per group, one row per layer and setting, one dot per seed."""
    groups: dict[str, dict[str, list[float]]] = {}
    trained_at: dict[str, float] = {}
    for experiment in experiments:
        for row in experiment.rows:
            lengths = [run.metrics["length"] for run in row.runs if "length" in run.metrics]
            if not lengths:
                continue
            settings = row.runs[0].settings
            group = str(settings["group"])
            rest = [part for part in row.panel.split(", ") if part and not part.startswith(("group ", "mixer "))]
            rows = groups.setdefault(group, {})
            name = ", ".join([row.mixer, *rest])
            if sum(lengths) / len(lengths) >= sum(rows.get(name, [0])) / len(rows.get(name, [0])):
                rows[name] = lengths
            at = settings["pairs"]
            trained_at[group] = float(at) if isinstance(at, (int, float)) else math.nan
    if not groups:
        return None
    most = max(len(rows) for rows in groups.values())
    figure, axes = style.panels(len(groups), 1, height=0.6 + 0.2 * most, between=0.9)
    for ax, (group, rows) in zip(axes, groups.items()):
        for y, (name, lengths) in enumerate(rows.items()):
            colour = style.look(name.split(",")[0])["color"]
            ax.plot(lengths, [y] * len(lengths), "o", color=colour, markersize=4, alpha=0.7, clip_on=False)
        ax.axvline(trained_at[group], color=MUTED, linewidth=0.8, linestyle="--")
        ax.set_yticks(range(len(rows)), [style.label(name) for name in rows], fontsize=7)
        ax.set_ylim(len(rows) - 0.4, -0.6)
        ax.set_xlim(left=0)
        ax.set_title(group)
        ax.set_xlabel("letters")
    return figure
