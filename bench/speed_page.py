#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Renders the tables of docs/speed.md from the result files in bench/results.

    bench/speed_page.py            # rewrites docs/speed.md
    bench/speed_page.py --check    # exit 1 where the page is not what the results say

A table stands between `<!-- bench: FILE.csv -->` and `<!-- end -->`; bench/collect.py makes FILE.csv. If the name is
FILE.curves.csv, curves.py renders the table. If it is FILE.drawn.csv, only ratios are shown. FILE.txt is shown unchanged."""
from __future__ import annotations

import math
import os
import sys
from typing import Callable

HERE = os.path.dirname(os.path.abspath(__file__))
DOCS = os.path.join(os.path.dirname(HERE), "docs")
sys.path[:0] = [os.path.dirname(HERE), DOCS]

import curves  # noqa: E402
import rendering  # noqa: E402
from rendering import Row  # noqa: E402
from reports.packing import packing_of  # noqa: E402

PAGE = os.path.join(DOCS, "speed.md")
SHAPE = ("B", "H", "T", "Dk", "Dv")
NARROW = ("bf16", "f16")
Group = tuple[str, str, Callable[[Row], bool]]
# (heading of our times, heading of the peers' times, whether a row belongs to the group)
GROUPS: list[Group] = [
    ("float32", "theirs", lambda r: r["math"] == "exact" and r["storage"] not in NARROW),
    ("bf16 products", "theirs, stored in bf16", lambda r: r["math"] == "bf16"),
    ("stored in bf16", "theirs, too", lambda r: r["math"] == "exact" and r["storage"] == "bf16"),
]


def milliseconds(row: Row) -> str:
    noise = 100 * float(row["noise"])
    marks = "*" if row["kept_slow"] == "1" else ""
    marks += "†" if row["source"] == "recollect" and "converted" in row["reason"] else ""
    return f"{1e3 * float(row['median_seconds']):.3g}{marks} ±{noise:.1g}%"


def cases_of(rows: list[Row], which: str) -> dict[tuple[str, ...], list[Row]]:
    """{case: its rows} for the pass `which`, forward or backward. A case is (layer, sizes ..., inputs left out,
    packing_of())."""
    cases: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        if row["pass"] == which:
            cases.setdefault((row["variant"], *(row[n] for n in SHAPE), row["without"], packing_of(row)), []).append(row)
    return cases


def shape_name(shape: tuple[str, ...] | list[str], packing: str) -> str:
    return ",".join(shape) + (f", {packing}" if packing else "")


def sides(rows: list[Row]) -> tuple[Row | None, list[Row]]:
    """Our row, or None, and the rows of peers: the fastest first, rows without a time last."""
    ours = next((r for r in rows if r["source"] == "recollect"), None)
    theirs = [r for r in rows if r["source"] != "recollect"]
    timed = sorted((r for r in theirs if r["status"] == "ok"), key=lambda r: float(r["median_seconds"]))
    return ours, timed + [r for r in theirs if r["status"] != "ok"]


def ratio_of(rows: list[Row]) -> float | None:
    """Our time divided by the time of the fastest peer; None unless both were timed."""
    ours, theirs = sides(rows)
    if not ours or not theirs or {ours["status"], theirs[0]["status"]} != {"ok"}:
        return None
    return float(ours["median_seconds"]) / float(theirs[0]["median_seconds"])


def cells(rows: list[Row]) -> list[str]:
    """Four cells for the rows of a case in one group: our time, the time of the fastest peer, their ratio, and the least
    possible time as a fraction of ours."""
    ours, theirs = sides(rows)
    if not ours:
        return ["", "", "", ""]
    if ours["status"] != "ok":
        return [ours["status"] + ": " + ours["reason"], "", "", ""]
    percent = 100 * float(ours["limit_seconds"]) / float(ours["median_seconds"])
    reached = f"{percent:{'.0f' if percent > 10 else '.2g'}}% {ours['bound']}" if percent else ""
    ratio = ratio_of(rows)
    if ratio is not None:
        other_run = "‡" if ours.get("commit") != theirs[0].get("commit") else ""
        return [milliseconds(ours), f"{milliseconds(theirs[0])} {theirs[0]['source']}", f"{ratio:.2f}x{other_run}", reached]
    return [milliseconds(ours), "; ".join(f"{r['source']}: {r['status']}" for r in theirs), "", reached]


def table(rows: list[Row], which: str) -> list[str]:
    cases = cases_of(rows, which)
    if not cases:
        return []
    timed = [row for mine in cases.values() for row in mine]
    groups = [group for group in GROUPS if any(map(group[2], timed))]
    columns = ["layer", "B,H,T,Dk,Dv"]
    for ours, theirs, _ in groups:
        columns += [ours, theirs, "ratio", "of limit"]
    out = ["", f"**{which}**", "", "| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    for (layer, *shape, without, packing), mine in sorted(cases.items(), key=lambda item: (item[0][1:6], item[0][7], item[0][0])):
        name = layer + (f" without {without}" if without else "")
        found = [cell for _, _, has in groups for cell in cells([row for row in mine if has(row)])]
        out.append("| " + " | ".join([name, shape_name(shape, packing), *found]) + " |")
    return out


def mean_ratio(ratios: list[float]) -> str:
    """The geometric mean; empty if there are none."""
    return f"{math.exp(sum(map(math.log, ratios)) / len(ratios)):.2f}x" if ratios else ""


Sizes = tuple[int, int, int, str]  # T, Dk, Dv, packing_of()
# (heading of a column of the summary, whether a shape counts in the mean of this column)
KINDS: list[tuple[str, Callable[[Sizes], bool]]] = [
    *((f"heads of {width}", lambda n, width=width: n[0] > 16 and n[1:] == (width, width, "")) for width in (64, 128, 256)),
    ("at most 16 steps", lambda n: n[0] <= 16),
    ("packed or grouped", lambda n: n[3] != ""),
]


def summary(rows: list[Row], which: str) -> list[str]:
    """A table with a row per group and layer. It has the geometric mean of the ratios over all shapes and over each kind of
    shape (KINDS), and the largest ratio with its shape."""
    columns = ["arrays", "layer", "shapes", "geometric mean", *(name for name, _ in KINDS), "largest", "at"]
    out = ["", f"**{which}: ratios**", "", f"| {' | '.join(columns)} |", "|" + "---|" * len(columns)]
    empty = len(out)
    for name, _, has in GROUPS:
        ratios: dict[str, list[tuple[float, str, Sizes]]] = {}
        for (layer, *shape, without, packing), mine in cases_of(list(filter(has, rows)), which).items():
            ratio = ratio_of(mine)
            if ratio is not None:
                at = shape_name(shape, packing) + (f" without {without}" if without else "")
                T, Dk, Dv = map(int, shape[2:])
                ratios.setdefault(layer, []).append((ratio, at, (T, Dk, Dv, packing)))
        if len(ratios) > 1:
            ratios["all"] = sum(ratios.values(), [])
        for layer, found in sorted(ratios.items()):
            means = [mean_ratio([ratio for ratio, _, sizes in found if of(sizes)]) for of in (lambda _: True, *(of for _, of in KINDS))]
            worst, at, _ = max(found)
            out.append(f"| {' | '.join([name, layer, str(len(found)), *means, f'{worst:.2f}x', at])} |")
    return out if len(out) > empty else []


def refusals(rows: list[Row]) -> list[str]:
    """The peers that were not timed, with the reasons."""
    said: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        if row["source"] != "recollect" and row["status"] != "ok":
            case = f"{row['variant']} {shape_name([row[n] for n in SHAPE], packing_of(row))} {row['pass']} {row['storage']}"
            said.setdefault((row["source"], f"{row['status']}: {row['reason']}"), []).append(case)
    if not said:
        return []
    lines = [f"- {source}, {reason}: {', '.join(of)}" for (source, reason), of in sorted(said.items())]
    return ["", *(rendering.folded(line, "  ") for line in lines)]


def lines_of(path: str) -> list[str]:
    if path.endswith(".txt"):
        with open(path, encoding="utf-8") as file:
            return ["", "```text", *file.read().splitlines(), "```"]
    origin, rows = rendering.read(path)
    if path.endswith(".curves.csv"):
        return [*curves.lines_of(rows), *opened_by_a_click("Device, commands and commits", rendering.origin_lines(origin))]
    passes = ("forward", "backward")
    lines = [line for which in passes for line in summary(rows, which)]
    if not path.endswith(".drawn.csv"):
        lines += [line for which in passes for line in table(rows, which)] + opened_by_a_click("Not timed", refusals(rows))
    return lines + opened_by_a_click("Device, commands and commits", rendering.origin_lines(origin))


def opened_by_a_click(title: str, lines: list[str]) -> list[str]:
    return ["", f"<details><summary>{title}</summary>", *lines, "", "</details>"] if lines else []


def rendered(text: str, results: str) -> str:
    return rendering.rendered(text, "bench", lambda name: lines_of(os.path.join(results, name)))


def main() -> int:
    with open(PAGE, encoding="utf-8") as file:
        text = file.read()
    new = rendered(text, os.path.join(HERE, "results"))
    if new == text:
        return 0
    if "--check" in sys.argv:
        print("docs/speed.md is not what bench/results say; run bench/speed_page.py", file=sys.stderr)
        return 1
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(new)
    return 0


if __name__ == "__main__":
    sys.exit(main())
