# SPDX-License-Identifier: Apache-2.0
"""Points as rows of one plot. The plot is written directly as SVG, because the drawing library would take 50 ms for
each one."""
from __future__ import annotations

from reports.figures.scales import Linear, scale
from reports.figures.style import INK, MUTED, ROLES, RULE, escaped
from reports.records import Point

WIDE, LEFT, RIGHT = 410, 14, 12  # points of 1/72 inch: total width, margins left and right of the axis
LINE, MARKS = 9.8, 17  # the height of a line of a label, and of the marks under it


def text(x: float, y: float, said: str, size: float = 7.5, colour: str = INK, anchor: str = "start") -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{colour}" text-anchor="{anchor}">'
        f"{escaped(said)}</text>"
    )


def line(x1: float, y1: float, x2: float, y2: float, colour: str, width: float, more: str = "") -> str:
    return f'<path d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}" stroke="{colour}" stroke-width="{width}"{more}/>'


def prediction(x: float, y: float, relation: str) -> str:
    """The mark of a prediction: a bar; if the prediction is a bound, a triangle that points to the allowed values."""
    if relation == "equal":
        return line(x, y - 4, x, y + 4, INK, 1.5)
    return f'<path d="M{x:.1f} {y - 4:.1f}v8l{-7 if relation == "at_most" else 7} -4z" fill="{INK}"/>'


def measurement(x: float, y: float, point: Point, low: float, high: float) -> str:
    colour = ROLES[point.role]
    fill = f'fill="{"white" if point.verdict == "refuted" else colour}" stroke="{colour}"'
    if not point.standard_error:
        return f'<path d="M{x - 3:.1f} {y:.1f}l3 -3l3 3l-3 3z" {fill}/>'
    bar = line(low, y, high, y, colour, 1.4) + "".join(line(x, y - 2.5, x, y + 2.5, colour, 1.2) for x in (low, high))
    return f'{bar}<circle cx="{x:.1f}" cy="{y:.1f}" r="2.4" {fill}/>'


def reach(point: Point) -> tuple[float, float]:
    """The ends of the point's error bar."""
    return point.measured - point.standard_error, point.measured + point.standard_error


def rows(points: list[Point], names: list[str], below: str) -> str:
    """SVG with the marks of every point below its name, which may have several lines. `below` is the text under the
    axis, which explains the marks."""
    values = [v for p in points for v in (p.measured, p.predicted)]
    axis = scale(values)
    if isinstance(axis, Linear):
        axis = scale([*values, *(v for p in points for v in reach(p))])

    def at(value: float) -> float:
        return LEFT + (WIDE - LEFT - RIGHT) * min(1.0, max(0.0, axis.place(value)))

    y, drawn = 4.0, []
    for point, name in zip(points, names):
        for said in name.split("\n"):
            y += LINE
            drawn.append(text(LEFT - 8, y, said))
        middle, ends = y + 8, (at(point.predicted), at(point.measured))
        drawn.append(line(ends[0], middle, ends[1], middle, ROLES[point.role], 1, ' stroke-opacity="0.5"'))
        drawn.append(prediction(ends[0], middle, point.relation))
        drawn.append(measurement(ends[1], middle, point, *map(at, reach(point))))
        y += MARKS
    grid = [line(at(v), 4, at(v), y, RULE, 0.6) + line(at(v), y, at(v), y + 3.5, MUTED, 0.8) for v, _ in axis.ticks()]
    grid += [text(at(v), y + 12.5, label, 8, MUTED, "middle") for v, label in axis.ticks()]
    grid.append(line(LEFT - 8, y, WIDE - RIGHT + 8, y, MUTED, 0.8))
    legend = [text(WIDE / 2, y + 14 + LINE * i, said, anchor="middle") for i, said in enumerate(below.split("\n"), 1)]
    high = y + 20 + LINE * len(legend)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDE}pt" height="{high:.1f}pt" '
        f'viewBox="0 0 {WIDE} {high:.1f}" '
        f"""font-family="'DejaVu Sans', Verdana, sans-serif" fill="none">"""
        '<rect width="100%" height="100%" fill="white"/>\n' + "\n".join([*grid, *drawn, *legend]) + "\n</svg>\n"
    )
