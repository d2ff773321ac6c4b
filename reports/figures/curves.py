# SPDX-License-Identifier: Apache-2.0
"""Figures of curves over steps, with a small panel for each family of layers."""
from __future__ import annotations

from typing import Any

import numpy as np

from reports import matrix
from reports.figures import style
from reports.figures.style import Figure, INK, below
from reports.records import Case, Curve, Results


def binned(values: Any, bins: int = 100, logarithmic: bool = False) -> tuple[Curve, Curve]:
    """(steps, values) of a long curve: means over at most `bins` segments of steps. If `logarithmic`, they are
    geometric means."""
    values = np.asarray(values, float)
    edges = np.unique(np.linspace(0, len(values), min(bins, len(values)) + 1).astype(int))
    if logarithmic:
        values = np.log(np.maximum(values, 1e-300))
    means = np.add.reduceat(values, edges[:-1]) / np.diff(edges)
    return (edges[:-1] + edges[1:] - 1) / 2 + 1, np.exp(means) if logarithmic else means


def curves(cases: list[Case], name: str, logarithmic: bool) -> dict[tuple[str, str], tuple[Curve, Curve]]:
    """{(family, variant): its curve}. A curve is the mean over those cases (seeds, forms) of the variant that have the
    same length; binned() then shortens it."""
    by_variant: dict[tuple[str, str], list[Curve]] = {}
    for case in cases:
        if name in case.series:
            by_variant.setdefault((case.family, case.variant), []).append(case.series[name])
    found = {}
    for key, list_ in by_variant.items():
        longest = max(map(len, list_))
        found[key] = binned(np.mean([c for c in list_ if len(c) == longest], axis=0), logarithmic=logarithmic)
    return found


def by_family(
    results: Results,
    task: str,
    series: list[str],
    ylabel: str,
    logarithmic: bool = False,
    baseline: str | None = None,
    most: int = 7,
) -> Figure | None:
    """A small panel for each family, with at most `most` variants per panel. Behind them, every panel shows the median
    and the middle 80% of all variants."""
    comparable = {c.variant for c in matrix.ranked(results.matrix, task)}
    cases = [
        c
        for c in results.cases
        if c.task == task
        and c.status == "ok"
        and c.setting != "trial"
        and c.experiment in ("", "matrix")
        and c.variant in comparable
    ]
    found = next((f for f in (curves(cases, s, logarithmic) for s in series) if f), None)
    if not found:
        return None
    families: dict[str, list[str]] = {}
    flat: list[str] = []
    for (family, variant), (_, y) in found.items():
        if not logarithmic and not np.any(y):
            flat.append(variant)  # zero everywhere: named below the figure, not drawn
        else:
            families.setdefault(family, []).append(variant)
    if not families:
        return None
    groups = []
    for family, variants in sorted(families.items()):
        parts = -(-len(variants) // most)
        size = -(-len(variants) // parts)
        for i in range(parts):
            groups.append(
                (
                    family,
                    f"{family} ({i + 1} of {parts})" if parts > 1 else family,
                    sorted(variants)[i * size : (i + 1) * size],
                )
            )
    ground = curves(cases, baseline, logarithmic) if baseline else {}
    columns = 3 if len(groups) > 2 else 2
    figure, axes = style.panels(len(groups), columns, height=2.3, between=1.45, sharey=True)
    length = min(len(y) for _, y in found.values())
    middle = np.quantile([y[:length] for _, y in found.values()], [0.1, 0.5, 0.9], axis=0)
    steps = next(x for x, y in found.values() if len(y) == length)
    for ax, (family, title, variants) in zip(axes, groups):
        if len(found) > 4:
            ax.fill_between(steps, middle[0], middle[2], color="#e9ecef", linewidth=0, zorder=1)
            ax.plot(steps, middle[1], color="#aeb6be", linewidth=1, zorder=1)
        for i, variant in enumerate(variants):
            x, y = found[family, variant]
            drawn = dict(style.look(variant), markevery=max(1, len(x) // 6))
            ax.plot(x, y, label=variant, zorder=3, linewidth=style.width(i), **drawn)
        if ground:
            x, y = next(iter(ground.values()))
            ax.plot(x, y, color=INK, linewidth=1, linestyle="--", label="baseline", zorder=2)
        if logarithmic:
            ax.set_yscale("log")
        ax.set_title(title)
        ax.set_xlabel("step")
        ax.set_ylabel(ylabel if ax in axes[::columns] else "")
        below(ax, ncol=2)
    seeds = sorted({len([c for c in cases if c.variant == v]) for _, v in found})
    note = f"Mean over {seeds[0] if len(seeds) == 1 else f'{seeds[0]} to {seeds[-1]}'} runs per layer."
    if flat:
        note += f" Zero at every step and not drawn: {', '.join(sorted(flat))}."
    # The note is placed below the legends, which differ in height.
    under = style.box_of(figure).y0 / figure.get_figheight() - 0.03
    figure.text(0.02, under, style.wrapped(note, 150), fontsize=7.5, color=style.MUTED, va="top")
    return figure


def swap_accuracy(results: Results) -> Figure | None:
    return by_family(results, "swap", ["state_accuracy_by_step", "accuracy_by_step"],
                     "share of states that are entirely right")  # fmt: skip


def regression_loss(results: Results) -> Figure | None:
    return by_family(
        results, "online_regression", ["loss_by_step"], "squared error", logarithmic=True, baseline="naive_by_step"
    )
