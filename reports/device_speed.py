# SPDX-License-Identifier: Apache-2.0
"""Times that bench/collect.py gathered of one device (bench/results/DEVICE.csv): ours beside the fastest of theirs."""
import csv
import os
import re

SHAPE = ("B", "H", "T", "Dk", "Dv")
NEEDED = {
    "source", "variant", "pass", *SHAPE, "storage", "math", "without", "status", "reason", "median_seconds", "noise", "limit_seconds",
    "bound",
}  # fmt: skip


def read(path):
    """{name of its page, title, origin: lines on how it was made, passes: {pass: rows}, refused: [(peer, reason, cases)]}.
    ValueError where it is no such file."""
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
    passes = {which: compared([r for r in rows if r["pass"] == which]) for which in dict.fromkeys(r["pass"] for r in rows)}
    return dict(name=re.sub(r"[^A-Za-z0-9_-]", "_", stem), title=device or stem, origin=origin, passes=passes, refused=refused(rows))


def compared(rows):
    """A row for each layer, shape and arithmetic: our time, the fastest of theirs, their ratio, the share of the limit."""
    cases = {}
    for row in rows:
        cases.setdefault((tuple(int(row[n]) for n in SHAPE), row["variant"], row["without"], row["math"]), []).append(row)
    found = []
    for (shape, variant, without, math), mine in sorted(cases.items()):
        timed = sorted((r for r in mine if r["status"] == "ok"), key=lambda r: float(r["median_seconds"]))
        ours = next((r for r in timed if r["source"] == "recollect"), None)
        theirs = next((r for r in timed if r["source"] != "recollect"), None)
        if ours:
            seconds, limit = float(ours["median_seconds"]), float(ours["limit_seconds"])
            ratio = seconds / float(theirs["median_seconds"]) if theirs else None
            found.append(dict(variant=variant, without=without, shape=shape, math=math, ours=ours, theirs=theirs, ratio=ratio,
                              share=limit / seconds if limit else None))  # fmt: skip
    return found


def refused(rows):
    """[(peer, reason, how many cases)] of what was not timed."""
    said = {}
    for row in rows:
        if row["status"] != "ok":
            key = (row["source"], f"{row['status']}: {row['reason']}")
            said[key] = said.get(key, 0) + 1
    return [(source, reason, count) for (source, reason), count in sorted(said.items())]
