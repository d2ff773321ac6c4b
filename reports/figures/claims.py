# SPDX-License-Identifier: Apache-2.0
"""The plot of one claim. It shows the claim's points: as curves if a parameter is swept, else as one row per point."""
from __future__ import annotations

import re
from typing import Any, Callable, Iterable

from recollect.schema import Value
from reports.figures import rows, style
from reports.figures.style import Axes, Figure, INK, MARKERS, MUTED, ROLES, number
from reports.findings import outcome, strain
from reports.records import Claim, Params, Point

Line = tuple[str, str, tuple[tuple[str, Value], ...]]  # role, label, distinguishing parameters

MOST_ROWS, MOST_LINES, WIDTH = 10, 6, 5.6
FIRST_CHOICE = ("d", "T", "t", "n", "C")  # preferred, in this order, as the x axis
NAMING = ("quantity", "case")  # text parameters that say what a point measures


def measures(point: Point) -> tuple[Value | None, ...]:
    return tuple(point.params.get(name) for name in NAMING)


def shared_params(points: list[Point]) -> Params:
    """Parameters with the same value at all points."""
    return dict(set.intersection(*[set(p.params.items()) for p in points])) if points else {}


def name_of(role: str, label: str, params: Params, leave_out: Iterable[str] = ()) -> str:
    """A line's name in the legend: its role, what it measures, and its distinguishing parameters."""
    said = [style.plain(label), *(str(params[n]) for n in NAMING if n in params and n not in leave_out)]
    said.append(style.params_text(params, (*leave_out, *NAMING)))
    text = ", ".join(x for x in said if x)
    return f"{role}: {text}" if text else role


def has_number(points: list[Point], x: str) -> list[Point]:
    return [p for p in points if style.finite(p.params.get(x))]


def law_along(points: list[Point], x: str) -> dict[Value, float]:
    """{value of x: prediction}, in ascending order of x. The result is {} if one value of x has several predictions,
    because the prediction is then not a function of x."""
    law: dict[Value, float] = {}
    for p in sorted(has_number(points, x), key=lambda p: p.params[x]):
        first = law.setdefault(p.params[x], p.predicted)
        if abs(p.predicted - first) > 1e-9 * max(abs(first), abs(p.predicted)):
            return {}
    return law


def is_law_in(points: list[Point], x: str) -> bool:
    """Whether, along every line of points, the prediction is a function of x."""
    return all(law_along(mine, x) for _, mine in lines_of(has_number(points, x), x))


def names(exact: str, parameter: str) -> bool:
    """Whether the text of the exact form contains this parameter."""
    return bool(re.search(rf"(?<![A-Za-z0-9_]){re.escape(parameter)}(?![A-Za-z0-9_])", exact))


def best_axis(candidates: list[str], points: list[Point], exact: str) -> str | None:
    """The parameter that determines the prediction along every line. If several do, one that occurs in the text of the
    exact form is preferred."""

    def rank(name: str) -> tuple[bool, bool, int, int, str]:
        choice = FIRST_CHOICE.index(name) if name in FIRST_CHOICE else len(FIRST_CHOICE)
        return (not is_law_in(points, name), not names(exact, name), choice, -len({p.params.get(name) for p in points}),
                name)  # fmt: skip

    return min(candidates, key=rank) if candidates else None


def sweep(points: list[Point], exact: str = "") -> tuple[str | None, list[Point]]:
    """(x, the points that vary along x), or (None, []) if no parameter is suitable. x is a numeric parameter with at
    least 4 values among the points of one quantity. If the text of the exact form contains x, 3 values are enough."""
    best: tuple[str | None, list[Point]] = (None, [])
    for what in sorted({measures(p) for p in points}, key=str):
        mine = [p for p in points if measures(p) == what and p.relation == "equal"]
        values: dict[str, set[Value]] = {}
        for p in mine:
            for name, value in p.params.items():
                if style.finite(value):
                    values.setdefault(name, set()).add(value)
        long_ = [n for n in sorted(values) if len(values[n]) >= (3 if names(exact, n) else 4)]
        x = best_axis(long_, mine, exact)
        along = has_number(mine, x) if x else []
        if x and (any(p.role == "statement" for p in along), len(along)) > (
            any(p.role == "statement" for p in best[1]),
            len(best[1]),
        ):
            best = (x, along)
    return best


def lines_of(points: list[Point], x: str) -> list[tuple[Line, list[Point]]]:
    """[(line, its points)]. Points on one line have the same role, label and text parameters, and the same value of
    every numeric parameter that takes only two or three values in total."""
    values: dict[str, set[Value]] = {}
    for p in points:
        for name, value in p.params.items():
            values.setdefault(name, set()).add(value)
    telling = {n for n, v in values.items() if n != x and (2 <= len(v) <= 3 or any(isinstance(one, str) for one in v))}
    lines: dict[Line, list[Point]] = {}
    for p in points:
        key = (p.role, p.label, tuple((n, v) for n, v in p.params.items() if n in telling))
        lines.setdefault(key, []).append(p)
    return sorted(lines.items(), key=lambda item: (item[0][0] != "statement", -len(item[1])))


def draw_prediction(ax: Axes, mine: list[Point], x: str, colour: str) -> None:
    """Draws the predictions of a line. A statement's predictions are drawn dashed; if they are all equal, they are one
    horizontal line across the axes. Other predictions are drawn as a solid curve, or as ticks if one value of x has
    several predictions."""
    law, stated = law_along(mine, x), mine[0].role == "statement"
    if stated and len(set(law.values())) == 1:
        ax.axhline(mine[0].predicted, color=colour, linewidth=1.1, linestyle="--")
    elif len(law) > 1:
        ax.plot(list(law), list(law.values()), "--" if stated else "-", color=colour, linewidth=1.1)
    else:
        ax.plot([p.params[x] for p in mine], [p.predicted for p in mine], "_", color=colour, markersize=12)


def swept(points: list[Point], x: str) -> Figure:
    lines = lines_of(points, x)
    shown = lines[:MOST_LINES]
    same = shared_params(points)
    figure = style.new_figure(WIDTH, 3.0)
    ax = figure.subplots()
    for i, ((role, label, telling), mine) in enumerate(shown):
        mine = sorted(mine, key=lambda p: p.params[x])
        colour = ROLES[role]  # a colour stands for a role in every plot; marks distinguish lines
        draw_prediction(ax, mine, x, colour)
        ax.errorbar(
            [p.params[x] for p in mine],
            [p.measured for p in mine],
            yerr=[p.standard_error for p in mine],
            fmt=MARKERS[i % len(MARKERS)],
            color=colour,
            capsize=2.5,
            label=style.label(style.wrapped(name_of(role, label, dict(telling), same), 66)),
            markerfacecolor="white" if role == "statement" else colour,
            zorder=3.5 if role == "statement" else 3,
        )
        exact = [p for p in mine if not p.standard_error]
        ax.plot([p.params[x] for p in exact], [p.measured for p in exact], "x", color=INK, markersize=3.5)
    values = [v for _, mine in shown for p in mine for v in (p.measured, p.predicted)]
    if style.spread_log([p.params[x] for p in points]):
        ax.set_xscale("log")
    if style.spread_log(values):
        ax.set_yscale("log")
    more = f"; {len(lines) - MOST_LINES} more lines in the file" if len(lines) > len(shown) else ""
    said = "solid: the law; dashed: the statement's own value;\nmarks: measured, ± 1 s.e.; crosses: without sampling"
    ax.plot([], [], "--", color=MUTED, label=said + more)
    ax.set_xlabel(x)
    ax.set_ylabel(style.label(style.wrapped(next((str(same[n]) for n in NAMING if n in same), "measured"), 40)))
    ax.legend(loc="upper left", bbox_to_anchor=(-0.1, -0.17), fontsize=7.5, labelspacing=0.25)
    return figure


def by_role(point: Point) -> tuple[int, bool, float]:
    role = ("statement", "condition", "limit", "obligation", "rival").index(point.role)
    return (role, point.verdict == "holds", -min(strain(point)[2], 1e300))


def by_failure(point: Point) -> tuple[bool, int, bool, float]:
    return (point.verdict == ("refuted" if point.role == "rival" else "holds"), *by_role(point))


def one_row_a_point(points: list[Point], rank: Callable[[Point], tuple[Any, ...]]) -> str:
    """SVG with a row per point. A point's name is written above its marks, so that long names fit."""
    ranked = sorted(points, key=rank)
    shown = ranked[:MOST_ROWS]
    same = shared_params(points) if len(points) > 1 else {}
    named = [style.wrapped(name_of(p.role, p.label, p.params, same), 98) for p in shown]
    more = f"\n{len(points) - len(shown)} more points in the file" if len(points) > len(shown) else ""
    marks = "dots: sampled, ± 1 s.e.; diamonds: without sampling; hollow: refuted;\nbars: predicted; triangles: bounds"
    return rows.rows(shown, named, marks + more)


def claim_figure(claim: Claim) -> Figure | str | None:
    """The claim's plot, as a figure or as SVG text; None if no point has a finite value."""
    points, rivals = (
        [p for p in mine if style.finite(p.measured, p.predicted, p.standard_error)]
        for mine in (claim.points, claim.rivals)
    )
    if not points:
        return None
    if outcome(claim) == "failed":
        return one_row_a_point(points + rivals, by_failure)
    x, along = sweep(points, claim.exact)
    decides = any(p.role == "statement" for p in along) or all(p.role != "statement" for p in points)
    return swept(along, x) if x and decides and len(along) >= 3 else one_row_a_point(points + rivals, by_role)


def alt_text(claim: Claim) -> str:
    worst = max(claim.points, key=strain)
    return (
        f"Measured against predicted values of {claim.id}; the decisive point ({worst.role}) measured "
        f"{number(worst.measured)}, predicted {number(worst.predicted)}."
    )
