# SPDX-License-Identifier: Apache-2.0
"""Figures that compare the fast forms with their recurrence."""
from __future__ import annotations

from typing import Any

from reports.figures import style
from reports.figures.style import CYCLE, Figure, OUTCOMES, below
from reports.records import Results

Form = tuple[str, str, str, str]  # family, layer, form, type


def equivalence(results: Results, id: str = "chunk_equals_recurrent") -> Figure | None:
    """The error of every fast form compared with its recurrence, the largest over all T, as a function of the chunk
    length C. There is a panel for each family."""
    points = [
        p
        for c in results.claims
        if c.id == id
        for p in c.points
        if "C" in p.params and "variant" in p.params and p.relation == "at_most"
    ]
    if not points:
        return None
    family_of = {c.variant: c.family for c in results.cases}
    curves_: dict[Form, dict[Any, float]] = {}
    bound: dict[tuple[Any, Any], dict[Any, float]] = {}
    for p in points:
        v, C, real = p.params["variant"], p.params["C"], p.params.get("real", "f64")
        key = (family_of.get(str(v), "every variant"), str(v), str(p.params.get("form", "")), str(real))
        mine = curves_.setdefault(key, {})
        mine[C] = max(mine.get(C, 0.0), p.measured)
        limit = bound.setdefault((key[0], real), {})
        limit[C] = max(limit.get(C, 0.0), p.predicted + p.tolerance)
    families = sorted({key[0] for key in curves_})
    figure, axes = style.panels(len(families), 3 if len(families) > 2 else 2, height=2.4, between=1.5, sharey=True)
    floor = 1e-18  # an error of 0 is drawn here, because a log axis has no zero
    for ax, family in zip(axes, families):
        for real, colour in [("f32", CYCLE[1]), ("f64", CYCLE[0])]:
            lines = {k: v for k, v in curves_.items() if k[0] == family and k[3] == real}
            if not lines:
                continue
            worst = max(lines, key=lambda k: max(lines[k].values()))
            for key, errors in lines.items():
                lengths = sorted(errors)
                ax.plot(
                    lengths,
                    [max(errors[c], floor) for c in lengths],
                    color=colour,
                    marker="o" if key == worst else None,
                    markersize=3,
                    linewidth=1.6 if key == worst else 0.6,
                    alpha=1 if key == worst else 0.45,
                    label=f"{real}: worst is {worst[1]} ({worst[2]}) of {len(lines)}" if key == worst else None,
                )
            lengths = sorted(bound[family, real])
            ax.plot(
                lengths,
                [bound[family, real][c] for c in lengths],
                color=colour,
                linestyle=":",
                linewidth=1,
                label=f"{real}: loosest bound",
            )
        ax.set_xscale("log", base=2)
        ax.set_yscale("log")
        ax.xaxis.set_major_formatter("{x:.0f}")
        ax.set_title(family)
        ax.set_xlabel("chunk length C")
        ax.set_ylabel("largest error" if ax in axes[:: 3 if len(families) > 2 else 2] else "")
        below(ax)
    return figure


def bound_used(results: Results, id: str = "chunk_equals_recurrent", most: int = 40) -> Figure | None:
    """Each fast form's largest error as a fraction of its rounding bound, largest first."""
    used: dict[tuple[str, Any], float] = {}
    for c in results.claims:
        for p in c.points if c.id == id else []:
            if "variant" in p.params and p.relation == "at_most" and style.finite(p.measured):
                key = (
                    f"{p.params['variant']} {p.params.get('form', '')}".strip(),
                    p.params.get("real", "f64"),
                )
                used[key] = max(used.get(key, 0.0), p.measured / (p.predicted + p.tolerance))
    if not used:
        return None
    names = sorted({n for n, _ in used}, key=lambda n: (-max(used.get((n, r), 0) for r in ("f32", "f64")), n))
    shown = names[:most]
    figure = style.new_figure(8.5, 1.1 + 0.2 * len(shown))
    ax = figure.subplots()
    for real, colour, marker in [("f32", CYCLE[1], "s"), ("f64", CYCLE[0], "o")]:
        rows = [i for i, n in enumerate(shown) if (n, real) in used]
        ax.plot([max(used[shown[i], real], 1e-8) for i in rows], rows, marker, color=colour, label=real)
    ax.axvline(1, color=OUTCOMES["failed"], linestyle="--", linewidth=1, label="bound")
    ax.set_xscale("log")
    ax.set_yticks(range(len(shown)), shown)
    ax.invert_yaxis()
    ax.set_xlabel(
        "error / bound" + (f"; {len(names) - most} more forms stay further below" if len(names) > most else "")
    )
    style.beside(ax)
    return figure
