# SPDX-License-Identifier: Apache-2.0
"""Shared by all figures: colours that colour-blind readers can distinguish (Okabe and Ito), fonts, numbers, saving."""
from __future__ import annotations

import io
import math
import os
import re
import textwrap
from html import escape
from typing import Any, Iterable, Mapping

import matplotlib
from matplotlib.axes import Axes as Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure as Figure
from matplotlib.ticker import Formatter, LogFormatterMathtext, NullLocator
from matplotlib.transforms import Bbox, TransformedBbox

INK, MUTED, RULE = "#1d2733", "#5a6673", "#d5dae0"
CYCLE = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#7A5C00", "#56B4E9", "#E69F00", "#3B3B8F"]
MARKERS = ["o", "s", "^", "D", "v", "P", "X", "*", "<", "p"]
DASHES = [
    "-",
    (0, (5, 1.5)),
    (0, (1.5, 1)),
    (0, (6, 1.5, 1.5, 1.5)),
    (0, (10, 2)),
    (0, (4, 1, 1, 1, 1, 1)),
    (0, (3, 1)),
    (0, (9, 1.5, 3, 1.5)),
    (0, (2, 2.5)),
    (0, (7, 1, 1, 1, 1, 1, 1, 1)),
]
OUTCOMES = {
    "holds": "#0072B2",
    "holds_under": "#56B4E9",
    "holds_asymptotically": "#009E73",
    "refuted": "#B8860B",
    "boundary": "#D9B44A",
    "typo": "#CC79A7",
    "untrained": "#8C6BB1",
    "trained_holds": "#56B4E9",
    "trained_in_part": "#E0A458",
    "trained_refuted": "#8A6D1F",
    "trained_undecided": "#C3C9CF",
    "not_tested": "#9aa2ab",
    "failed": "#C4320A",
}
ROLES = {
    "statement": "#D55E00",
    "limit": "#009E73",
    "condition": "#56B4E9",
    "obligation": "#0072B2",
    "rival": "#7f8790",
}

matplotlib.rcParams.update(
    {
        "svg.fonttype": "none",
        "svg.hashsalt": "recollect",  # text can be selected; every run writes the same bytes
        "font.family": ["DejaVu Sans"],
        "font.size": 9,
        "axes.titlesize": 9.5,
        "axes.titleweight": "bold",
        "axes.titlelocation": "left",
        "axes.labelsize": 9,
        "xtick.labelsize": 8,
        "ytick.labelsize": 8,
        "legend.fontsize": 8,
        "legend.frameon": False,
        "text.color": INK,
        "axes.labelcolor": INK,
        "axes.edgecolor": MUTED,
        "xtick.color": MUTED,
        "ytick.color": MUTED,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "grid.color": RULE,
        "grid.linewidth": 0.6,
        "axes.axisbelow": True,
        "lines.linewidth": 1.4,
        "lines.markersize": 4.5,
        "axes.unicode_minus": True,
        "axes.formatter.useoffset": False,
    }
)


def new_figure(width: float, height: float) -> Figure:
    """A figure with one or more panels. save() crops it to its contents."""
    figure = Figure(figsize=(width, height))
    FigureCanvasAgg(figure)
    return figure


def panels(
    count: int, columns: int, height: float = 2.5, between: float = 0.75, **subplots: Any
) -> tuple[Figure, list[Axes]]:
    """A figure of `count` panels, `columns` per row and each `height` inches high, and its axes as a flat list."""
    columns = max(1, min(columns, count))
    rows = -(-count // columns)
    figure = new_figure(10 if columns > 1 else 6.2, (height + between) * rows)
    axes = list(
        figure.subplots(
            rows, columns, squeeze=False, gridspec_kw={"hspace": between / height, "wspace": 0.24}, **subplots
        ).flat
    )
    for extra in axes[count:]:
        extra.set_visible(False)
    return figure, axes[:count]


_places: dict[str, int] = {}  # layer -> its index in the order of looks


def look(layer: str, variation: int = 0) -> dict[str, Any]:
    """Colour, marker and dash of a layer, which are the same in every figure of a report. No two of the first 80 layers
    share both colour and dash, and no two of the first eight share a colour. Variations of a layer in one figure differ
    in their dash."""
    place = _places.setdefault(layer, len(_places))
    row, column = divmod(place, len(CYCLE))
    return dict(
        color=CYCLE[column],
        marker=MARKERS[(row + column) % len(MARKERS)],
        linestyle=DASHES[(row + variation) % len(DASHES)],
        markersize=4,
    )


def width(order: int) -> float:
    """Width of line number `order` of a panel. Each line is thinner than the one drawn before it, so that all of
    several equal curves can be seen."""
    return max(0.9, 3.2 - 0.4 * order)


def assign_looks(layers: Iterable[str]) -> None:
    """Gives the first looks (colour, marker, dash) to these layers, in this order. To be called before processes fork,
    so that all processes give a layer the same look."""
    _places.clear()
    for layer in layers:
        look(layer)


def wrapped(text: str, width: int) -> str:
    """The text in lines of at most `width` characters. Lines break between words, or inside a word that is longer than
    `width`; no characters are left out."""
    return "\n".join(textwrap.wrap(text, width, break_on_hyphens=False)) or text


def beside(ax: Axes, **legend: Any) -> None:
    """A legend to the right of the panel, where it covers nothing."""
    ax.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), fontsize=7.5, labelspacing=0.3, **legend)


def below(ax: Axes, **legend: Any) -> None:
    """A legend below the panel, where it covers nothing."""
    ax.legend(
        loc="upper left",
        bbox_to_anchor=(-0.05, -0.2),
        fontsize=7.5,
        handlelength=1.4,
        labelspacing=0.25,
        columnspacing=1,
        **legend,
    )


class Powers(Formatter):  # type: ignore[misc]  # the drawing library has no types
    """Labels of log axes in plain characters, because typesetting them as mathematics would take as long as the rest of
    the figure. At most `most` ticks, evenly spread, have labels, because on a short axis the labels of minor ticks
    would overlap."""

    TEX = re.compile(r"\$\\mathdefault\{(-?)(?:([\d.]+)\\times ?)?10\^\{(-?\d+)\}\}\$")

    def __init__(self, of: Formatter, most: int = 99) -> None:
        self.of, self.most = of, most
        self.silent: set[float] = set()

    def set_axis(self, axis: Any) -> None:
        super().set_axis(axis)
        self.of.set_axis(axis)

    def set_locs(self, locs: Any) -> None:
        super().set_locs(locs)
        self.of.set_locs(locs)
        low, high = sorted(self.axis.get_view_interval())
        labelled = [x for x in locs if low <= x <= high and self.of(x)]
        self.silent = set(labelled) - set(labelled[:: max(1, math.ceil(len(labelled) / self.most))])

    def __call__(self, x: float, pos: int | None = None) -> str:
        return "" if x in self.silent else self.TEX.sub(
            lambda m: (m[1] and "−") + (m[2] + "×" if m[2] else "") + "10" + m[3].translate(RAISED), self.of(x, pos)
        ).replace(r"$\mathdefault{0}$", "0")


def box_of(figure: Figure) -> TransformedBbox:
    """The drawing's extent in inches. (The figure's own method for this is slower: it measures every panel twice.)"""
    renderer = figure.canvas.get_renderer()
    parts = [a for a in (*figure.axes, *figure.texts, *figure.legends) if a.get_visible()]
    return TransformedBbox(Bbox.union([a.get_tightbbox(renderer) for a in parts]), figure.dpi_scale_trans.inverted())


def rendered(figure: Figure, png: str | None = None) -> str:
    """The figure as SVG text, cropped to the drawing. If `png` names a file, the figure is also written there as
    PNG."""
    for axis in (axis for ax in figure.axes for axis in (ax.xaxis, ax.yaxis)):
        if isinstance(axis.get_major_formatter(), LogFormatterMathtext):
            axis.set_major_formatter(Powers(axis.get_major_formatter()))
        if isinstance(axis.get_minor_formatter(), LogFormatterMathtext):
            axis.set_minor_formatter(Powers(axis.get_minor_formatter(), most=4))
        low, high = axis.get_view_interval()
        if axis.get_scale() == "log" and high > 1e3 * low:
            axis.set_minor_locator(NullLocator())  # so many minor ticks would merge, and each takes time
    box = box_of(figure).padded(0.08)
    if png:
        figure.savefig(png, dpi=130, facecolor="white", bbox_inches=box)
    text = io.StringIO()
    metadata = {"Date": None, "Creator": None, "Format": None, "Type": None}
    figure.savefig(text, format="svg", facecolor="white", bbox_inches=box, metadata=metadata)
    return text.getvalue().replace("'DejaVu Sans'", "'DejaVu Sans', Verdana, sans-serif")


def save(figure: Figure | str, folder: str, name: str, png: bool = True) -> None:
    """Writes NAME.svg to the folder, and NAME.png if `png` is true. For a figure that is already SVG text, no PNG is
    written."""
    svg = figure if isinstance(figure, str) else rendered(figure, os.path.join(folder, name + ".png") if png else None)
    with open(os.path.join(folder, name + ".svg"), "w", encoding="utf-8") as f:
        f.write(svg)


def save_pdf(figure: Figure, folder: str, name: str) -> None:
    """Writes NAME.pdf. rendered() must have been called for the figure before."""
    box = box_of(figure).padded(0.08)
    figure.savefig(os.path.join(folder, name + ".pdf"), bbox_inches=box, metadata={"CreationDate": None})


def plain(text: str) -> str:
    """A text as the terminal shows it: without the $ marks of formulas. If the number of marks is odd, none is
    removed."""
    return text.replace("$", "") if text.count("$") % 2 == 0 else text


RAISED = str.maketrans("-+0123456789nTd", "⁻⁺⁰¹²³⁴⁵⁶⁷⁸⁹ⁿᵀᵈ")
LOWERED = str.maketrans("-0123456789ijktnv", "₋₀₁₂₃₄₅₆₇₈₉ᵢⱼₖₜₙᵥ")


def scripted(text: object) -> str:
    """Text from a file, with its short subscripts and superscripts lowered and raised."""
    text = plain(str(text))
    text = re.sub(
        r"(?<![A-Za-z0-9])([A-Za-z])_([0-9ijktnv]\b|\{[ijktn]-[0-9]\})",
        lambda m: m[1] + m[2].strip("{}").translate(LOWERED),
        text,
    )
    text = re.sub(r"\^(-?[0-9]+|[nTd]\b|\+(?![\w(]))", lambda m: m[1].translate(RAISED), text)
    for plain_sign, sign in {"<=": "≤", ">=": "≥", "!=": "≠", "->": "→", "sqrt(": "√("}.items():
        text = text.replace(plain_sign, sign)
    return text


def label(text: str) -> str:
    """Text from a file as a label. Its $ signs are escaped, so that the drawing library does not treat them as
    mathematics."""
    return scripted(text).replace("$", r"\$")


def escaped(text: str) -> str:
    """Text from a file, escaped for an SVG."""
    return escape("".join(c if c.isprintable() else " " for c in scripted(text)), quote=False)


def number(x: Any, digits: int = 4) -> str:
    """A number for readers: 4 significant digits, powers of ten as superscripts."""
    if not isinstance(x, (int, float)):
        return str(x)
    if math.isnan(x):
        return "not a number"
    if math.isinf(x):
        return "∞" if x > 0 else "−∞"
    if abs(x) < 1e9 and x == int(x) and (isinstance(x, int) or abs(x) < 1e5):
        return f"{int(x):,}".replace(",", "\u202f").replace("-", "−")
    text = f"{x:.{digits}g}"
    if "e" in text:
        mantissa, power = text.split("e")
        return (
            mantissa.replace("-", "−") + "×10" + str(int(power)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
        )
    return text.replace("-", "−")


def words(name: object) -> str:
    """An identifier as words: loss_late -> loss late."""
    return str(name).replace("_", " ")


def params_text(params: Mapping[str, Any], leave_out: Iterable[str] = ()) -> str:
    return ", ".join(f"{k} = {number(v)}" for k, v in params.items() if k not in leave_out)


def finite(*values: Any) -> bool:
    return all(isinstance(v, (int, float)) and math.isfinite(v) for v in values)


def spread_log(values: Iterable[Any]) -> bool:
    """Whether the positive values differ so much that they need a log axis."""
    positive = [v for v in values if finite(v) and v > 0]
    return len(positive) == len(list(values)) and bool(positive) and max(positive) / min(positive) > 30
