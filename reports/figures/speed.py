# SPDX-License-Identifier: Apache-2.0
"""Figures of `bench`: time as a function of length, with its exponent, and the machine's roofline. Only times of the
same file are compared or joined by lines, because a file's times are all from one machine."""
from __future__ import annotations

import dataclasses
import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from reports.figures import style
from reports.figures.style import Figure, INK
from reports.records import BenchRow, Results

Kind = tuple[str, str, str, str, str]  # type, pass, math, schedule, input left out
Line = tuple[Any, ...]

FILLS = ("full", "none", "left", "right", "top", "bottom")  # fill styles of a layer's marks


def timed(results: Results) -> list[BenchRow]:
    return [b for b in results.bench if b.status == "ok" and b.median_seconds > 0]


def machines(results: Results) -> dict[int, str]:
    """{file: label of its times}. The label is "" if only one file has times. Otherwise it is the file's device, or the
    file's name if several files have the same device."""
    files = sorted({b.file for b in results.bench})
    if len(files) < 2:
        return dict.fromkeys(files, "")
    devices = {i: results.files[i].meta.get("device", "") for i in files}
    alone = {i: d for i, d in devices.items() if d and list(devices.values()).count(d) == 1}
    return {i: alone.get(i) or os.path.basename(results.files[i].path) for i in files}


def kind(b: BenchRow) -> Kind:
    """The settings of a timing besides its shape. Only times of the same kind are compared. Older files lack some of
    these columns."""
    return (b.real, b.pass_ or "forward", b.math or "exact", b.schedule or "auto", b.without)


def words_of(kind: Kind) -> str:
    """The parts of a kind that differ from the default, such as "backward, tf32 products, without alpha" or
    "stored in bf16"."""
    real, way, math, schedule, without = kind
    words = [f"stored in {real}"] if real in ("bf16", "f16") else []
    words += [] if way == "forward" else [way]
    words += [] if math == "exact" else [f"{math} products"]
    words += [] if schedule == "auto" else [schedule]
    return ", ".join(words + ([f"without {without}"] if without else []))


def series(rows: list[BenchRow]) -> dict[Line, list[BenchRow]]:
    """{(source, variant, form, B, H, Dk, Dv, file, kind): rows sorted by T}, only for keys with at least three
    lengths T."""
    lines: dict[Line, list[BenchRow]] = {}
    for b in rows:
        key = (b.source, b.variant, b.form, b.B, b.H, b.Dk, b.Dv, b.file, kind(b))
        lines.setdefault(key, []).append(b)
    lines = {k: sorted(v, key=lambda b: b.T) for k, v in lines.items()}
    return {k: v for k, v in lines.items() if len({b.T for b in v}) >= 3}


def exponent(rows: list[BenchRow]) -> tuple[float, float]:
    """The exponent of T in the time: the slope of log time over log T, and its standard error."""
    x, y = np.log([b.T for b in rows]), np.log([b.median_seconds for b in rows])
    slope, at = np.polyfit(x, y, 1)
    left = y - slope * x - at
    spread = np.sum(left**2) / max(1, len(x) - 2) / np.sum((x - x.mean()) ** 2)
    return float(slope), float(np.sqrt(spread))


def time_against_length(results: Results) -> Figure | None:
    lines = series(timed(results))
    if not lines:
        return None
    figure = style.new_figure(9, 4.2)
    ax = figure.subplots()
    seen: dict[str, int] = {}
    machine = machines(results)
    for (source, variant, form, *_, file, timed_kind), rows in sorted(lines.items()):
        seen[variant] = seen.get(variant, -1) + 1
        said = ", ".join(filter(None, ["" if source == "recollect" else source, words_of(timed_kind), machine[file]]))
        name = f"{variant} {form}" + (f" ({said})" if said else "")
        slope, error = exponent(rows)
        median = np.array([b.median_seconds for b in rows])
        bars = [median - [b.low_seconds for b in rows], [b.high_seconds for b in rows] - median]
        ax.errorbar([b.T for b in rows], 1e3 * median, yerr=1e3 * np.maximum(0, bars), capsize=2,
                    label=f"{name}: T^({slope:.2f} ± {error:.2f})", **style.look(variant, seen[variant]))  # fmt: skip
    ax.set_xscale("log", base=2)
    ax.set_yscale("log")
    ax.xaxis.set_major_formatter("{x:.0f}")
    ax.set_xlabel("T")
    ax.set_ylabel("milliseconds per pass")
    style.beside(ax)
    return figure


def roofline(results: Results) -> Figure | None:
    rows = [b for b in timed(results) if b.flops > 0 and b.bytes > 0 and b.flops_ceiling > 0]
    if not rows:
        return None
    figure = style.new_figure(8, 4.2)
    ax = figure.subplots()
    ratio = np.array([b.flops / b.bytes for b in rows])
    x = np.geomspace(min(ratio.min(), 0.5), max(ratio.max(), 200), 100)
    ceilings = {(b.file, b.real): (b.flops_ceiling, b.bytes_ceiling) for b in rows}
    machine = machines(results)
    for i, ((file, real), (peak, memory)) in enumerate(sorted(ceilings.items())):
        said = ", ".join(filter(None, [real, machine[file]])) if len(ceilings) > 1 else ""
        ax.plot(
            x,
            np.minimum(peak, memory * x) / 1e9,
            color=INK,
            linewidth=1.2,
            linestyle=style.DASHES[i % len(style.DASHES)],
            label="ceilings measured on this machine" + (f": {said}" if said else ""),
        )
    names: dict[str, dict[str, int]] = {}
    for b in rows:
        name = f"{b.variant} {b.form}" + ("" if b.source == "recollect" else f" ({b.source})")
        alike = names.setdefault(b.variant, {})  # a layer's forms and sources share a mark, with different fills
        label = None if name in alike else name
        fill = FILLS[alike.setdefault(name, len(alike)) % len(FILLS)]
        look = dict(style.look(b.variant), linestyle="none", fillstyle=fill)
        ax.plot(b.flops / b.bytes, b.flops / b.median_seconds / 1e9, label=label, **look)
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlabel("operations of the definition per byte read or written once")
    ax.set_ylabel("10⁹ operations per second")
    style.beside(ax)
    return figure


@dataclass
class Ratio:
    """The seconds that our fastest form and a peer take for one case."""

    name: str
    ours: float
    peer: str
    theirs: float
    ratio: float  # peer's time over ours
    machine: str


def ratios(results: Results) -> list[Ratio]:
    """A Ratio for each case of ours and each peer for which the same case was timed."""

    def key(b: BenchRow) -> tuple[Any, ...]:
        return (b.file, b.variant, b.B, b.H, b.T, b.Dk, b.Dv, kind(b))

    ours: dict[tuple[Any, ...], BenchRow] = {}
    machine = machines(results)
    for b in timed(results):
        if b.source == "recollect" and (key(b) not in ours or b.median_seconds < ours[key(b)].median_seconds):
            ours[key(b)] = b
    return [
        Ratio(name=ours[key(b)].name, ours=ours[key(b)].median_seconds, peer=b.source, theirs=b.median_seconds,
              ratio=b.median_seconds / ours[key(b)].median_seconds, machine=machine[b.file])
        for b in timed(results)
        if b.source != "recollect" and key(b) in ours
    ]  # fmt: skip


def not_timed(results: Results) -> list[BenchRow]:
    """The cases without a time, with the reason."""
    machine = machines(results)
    return [dataclasses.replace(b, machine=machine[b.file]) for b in results.bench if b.status != "ok"]
