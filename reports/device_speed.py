# SPDX-License-Identifier: Apache-2.0
"""Times on one device, which bench/collect.py collected (bench/results/DEVICE.csv): our times and those of the fastest
peer."""
from __future__ import annotations

import csv
import os
import re
import statistics
from dataclasses import dataclass

from reports.packing import packing_of
from reports.records import Device, DeviceRow

SHAPE = ("B", "H", "T", "Dk", "Dv")
WIDTHS = (64, 128, 256)  # head widths with a column in the summary
DECODED = 16  # calls of at most so many steps count as decoding
# NAME in FILE.NAME.csv -> what the shapes in the file are
ABOUT = dict(curves="lengths and widths next to a multiple of 64", drawn="shapes drawn at random")
NEEDED = {
    "source",
    "variant",
    "pass",
    *SHAPE,
    "storage",
    "math",
    "without",
    "status",
    "reason",
    "median_seconds",
    "noise",
    "limit_seconds",
    "bound",
}


def read(path: str) -> Device:
    """Reads a table that bench/collect.py wrote. ValueError for any other file."""
    with open(path, encoding="utf-8", newline="") as f:
        lines = f.read().splitlines()
    origin = [line[1:].strip() for line in lines if line.startswith("#")]
    reader = csv.DictReader(line for line in lines if not line.startswith("#"))
    if not NEEDED <= set(reader.fieldnames or ()):
        raise ValueError("it is no table of bench/collect.py")
    rows = list(reader)
    if any(None in row or None in row.values() for row in rows):
        raise ValueError("a row has another number of fields than the header")
    device = next((line.partition(": ")[2] for line in origin if line.startswith("device: ")), "")
    stem = os.path.splitext(os.path.basename(path))[0]
    names = dict.fromkeys(r["pass"] for r in rows)
    passes = {which: compared([r for r in rows if r["pass"] == which]) for which in names}
    about = ABOUT.get(stem.partition(".")[2])
    title = (device or stem) + (f": {about}" if about else "")
    return Device(re.sub(r"[^A-Za-z0-9_-]", "_", stem), title, origin, passes, refused(rows))


@dataclass
class Summary:
    """Ratios of our time to the fastest peer's time, for one layer and one pass."""

    variant: str
    which: str  # forward or backward
    count: int  # number of shapes that both we and a peer ran
    mean: float  # geometric mean of the ratios
    by_width: list[float | None]  # geometric mean for each of WIDTHS; no decoding, packed texts or grouped heads


def summary(device: Device) -> list[Summary]:
    """A row for each layer and pass that a peer ran too."""
    found = []
    for which, rows in device.passes.items():
        for variant in {r.variant for r in rows if r.ratio is not None}:
            mine = [(r.shape, r.packing, r.ratio) for r in rows if r.variant == variant and r.ratio is not None]
            means = [
                mean_ratio([ratio for (_, _, T, *widths), packing, ratio in mine
                            if T > DECODED and widths == [width, width] and not packing])
                for width in WIDTHS
            ]
            found.append(Summary(variant, which, len(mine), statistics.geometric_mean(r for *_, r in mine), means))
    return sorted(found, key=lambda s: (s.variant, s.which != "forward"))


def mean_ratio(some: list[float]) -> float | None:
    return statistics.geometric_mean(some) if some else None


def compared(rows: list[dict[str, str]]) -> list[DeviceRow]:
    """A row for each layer, shape and precision: our time, the fastest peer's time, their ratio, and the least possible
    time as a fraction of ours. If a case has float32 arrays and bf16 products, its peers store bf16."""
    cases: dict[tuple[tuple[int, ...], str, str, str, str, str], list[dict[str, str]]] = {}
    for row in rows:
        stored = row["storage"] if row["math"] == "exact" else ""
        shape = tuple(int(row[n]) for n in SHAPE)
        cases.setdefault((shape, packing_of(row), row["variant"], row["without"], row["math"], stored), []).append(row)
    found = []
    for (shape, packing, variant, without, math, _), mine in sorted(cases.items()):
        timed = sorted((r for r in mine if r["status"] == "ok"), key=lambda r: float(r["median_seconds"]))
        ours = next((r for r in timed if r["source"] == "recollect"), None)
        theirs = next((r for r in timed if r["source"] != "recollect"), None)
        if ours:
            seconds, limit = float(ours["median_seconds"]), float(ours["limit_seconds"])
            ratio = seconds / float(theirs["median_seconds"]) if theirs else None
            share = limit / seconds if limit else None
            found.append(DeviceRow(variant, without, shape, packing, math, ours, theirs, ratio, share))
    return found


def refused(rows: list[dict[str, str]]) -> list[tuple[str, str, int]]:
    """[(source, reason, number of cases)] for the cases that were not timed."""
    said: dict[tuple[str, str], int] = {}
    for row in rows:
        if row["status"] != "ok":
            key = (row["source"], f"{row['status']}: {row['reason']}")
            said[key] = said.get(key, 0) + 1
    return [(source, reason, count) for (source, reason), count in sorted(said.items())]
