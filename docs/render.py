#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Renders the tables of docs/*.md from data files, and from what the program says about itself (catalogue.py).

    docs/render.py            # rewrites the documents; ci/derive.sh runs it
    docs/render.py --check    # exit 1 if a document differs from its data

A table stands between `<!-- table: NAME -->` and `<!-- end -->`. NAME is one of TABLES below, or a file docs/data/NAME.csv,
which is rendered as it is. The first lines of a CSV file begin with #; they give the command, the commit and the device."""

from __future__ import annotations

import collections
import glob
import os
import statistics
import sys
from collections.abc import Callable

import catalogue
import rendering
import scaling
import trained
from catalogue import table
from rendering import Row

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)


def read(name: str) -> tuple[list[str], list[Row]]:
    return rendering.read(os.path.join(HERE, "data", name))


def number(x: float) -> str:
    return f"{x:.2g}" if x < 100 else f"{x:.0f}"


def origin_of(name: str) -> list[str]:
    return rendering.origin_lines(read(name)[0])


def right_kernels(name: str) -> list[str]:
    """Errors of kernels that are taken to be right, in units of rounding noise: one row per type and part."""
    groups: dict[tuple[str, str], list[Row]] = collections.defaultdict(list)
    for row in read(name)[1]:
        groups[row["type"], row["part"]].append(row)
    rows = []
    for (kind, part), mine in sorted(groups.items()):
        judged = [row for row in mine if row["row_largest"]]
        largest = max(judged, key=lambda row: float(row["row_largest"]))
        rows.append([
            kind, part, str(sum(int(row["arrays"]) for row in mine)),
            number(statistics.median(float(row["row_median"]) for row in judged)), largest["row_largest"],
            f"{largest['layer']}, {largest['form']}",
            number(statistics.median(float(row["head_median"]) for row in judged)),
            number(max(float(row["head_largest"]) for row in judged)),
            *(str(sum(int(row[verdict]) for row in mine)) for verdict in ("right", "wrong", "undecided")),
        ])  # fmt: skip
    columns = ["type", "array", "cases", "row: median", "largest", "of", "head: median", "largest"]
    return [*table([*columns, "right", "wrong", "undecided"], rows), *origin_of(name)]


def by_kernel(name: str) -> list[str]:
    """Verdicts on the arrays of each kernel and type, and how often each array was judged wrong."""
    groups: dict[tuple[str, str, str], list[Row]] = collections.defaultdict(list)
    for row in read(name)[1]:
        groups[row["layer"], row["form"].removeprefix("test_"), row["type"]].append(row)
    rows = []
    for (layer, form, kind), mine in sorted(groups.items()):
        counts = [sum(int(row[verdict]) for row in mine) for verdict in ("right", "wrong", "undecided")]
        wrong = ", ".join(f"{row['part']} {row['wrong']} of {row['arrays']}" for row in mine if int(row["wrong"]))
        kernel = form.removeprefix(layer + "_")
        rows.append([layer, kernel, kind, str(sum(int(row["arrays"]) for row in mine)), *map(str, counts), wrong])
    columns = ["layer", "kernel", "type", "arrays", "right", "wrong", "undecided", "which are wrong"]
    return [*table(columns, rows), *origin_of(name)]


def criteria() -> list[str]:
    """For each criterion, the number of planted mistakes and of right kernels that it refuses."""
    _, data = read("check-planted.csv")
    names = [name for name in data[0] if name not in ("type", "mistake", "planted", "named")]
    rows = []
    for row in data:
        if row["mistake"] in ("all mistakes", "right kernels"):
            named = row["named"] if row["mistake"] == "all mistakes" else ""
            rows.append([row["type"], row["mistake"], row["planted"], *(row[name] for name in names), named])
    return [*table(["type", "", "cases", *names, "named"], rows), *origin_of("check-planted.csv")]


def mistakes() -> list[str]:
    """For each mistake, over all types: the share of cases that each criterion refuses."""
    _, data = read("check-planted.csv")
    names = [name for name in data[0] if name not in ("type", "mistake", "planted", "named")]
    sums: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    for row in data:
        if row["mistake"] not in ("all mistakes", "right kernels"):
            for name in ("planted", "named", *names):
                sums[row["mistake"]][name] += int(row[name])
    rows = []
    for mistake, counts in sorted(sums.items()):
        share = [f"{100 * counts[name] / counts['planted']:.0f}" for name in (*names, "named")]
        rows.append([f"`{mistake}`", str(counts["planted"]), *share])
    return table(["mistake", "cases", *(name + " %" for name in names), "named %"], rows)


def as_it_is(name: str) -> list[str]:
    """A CSV file as a table: its columns, its rows, its origin. Columns called "command" are set as code."""
    _, data = read(f"{name}.csv")
    columns = list(data[0])
    rows = [[f"`{row[c]}`" if c == "command" and row[c] else row[c] for c in columns] for row in data]
    return [*table(columns, rows), *origin_of(f"{name}.csv")]


def ranking(name: str) -> list[str]:
    """A ranking of layers, and a sentence on those that the first does not surpass significantly."""
    lines, (first, *others) = as_it_is(name), read(f"{name}.csv")[1]
    equal = [row["layer"] for row in others if float(row["q"]) > 0.05]
    said = f"Of the other {len(others)} layers, {len(equal)} do not differ significantly from {first['layer']} (q > 0.05)"
    return ["", rendering.folded(said + (f": {', '.join(equal)}." if 0 < len(equal) < len(others) else ".")), "", *lines]


def ledger() -> list[str]:
    """The number of checkable statements of the papers by verdict."""
    verdicts = collections.Counter(verdict for _, verdict in catalogue.rows_of_ledger())
    rows = [[verdict, str(count)] for verdict, count in sorted(verdicts.items(), key=lambda item: (-item[1], item[0]))]
    return table(["verdict", "statements of the papers"], rows)


def left_out(rows: list[Row]) -> list[tuple[str, list[Row], list[Row]]]:
    """(name, others, left out): splits the rows into those of a part that is left out (half of the layers, or a whole
    implementation) and those of all others."""
    layers = sorted({row["layer"] for row in rows})
    odd = set(layers[1::2])
    parts = {
        "every second layer": [row for row in rows if row["layer"] in odd],
        "the other layers": [row for row in rows if row["layer"] not in odd],
    }
    for form in sorted({row["of"] for row in rows}):
        parts[form] = [row for row in rows if row["of"] == form]
    return [(name, [row for row in rows if row not in part], part) for name, part in parts.items()]


def limits() -> list[str]:
    """For each type, limits that the other kernels give: twice the largest row or head of some right kernels is the limit for
    those left out as a whole. Separately for outputs and gradients, and for states and their gradients."""
    data = [{**row, "of": "recollect, " + row["form"]} for row in read("check-right-own.csv")[1]]
    data += [{**row, "of": "fla or PyTorch, " + row["form"]} for row in read("check-right-fla.csv")[1]]
    rows = []
    for kind in ("f64", "f32", "tf32", "f16", "bf16"):
        mine = [row for row in data if row["type"] == kind and row["row_largest"]]
        for name, others, part in left_out(mine):
            arrays = [str(sum(int(row["right"]) for row in some)) for some in (others, part)]
            cells = [held(others, part, of, of_state) for of_state in (False, True) for of in ("row", "head")]
            rows.append([kind, name, *arrays, *cells])
    columns = ["type", "left out", "set on arrays", "left out arrays", "rows", "heads", "rows of states", "heads of states"]
    return table(columns, rows)


def held(others: list[Row], part: list[Row], of: str, of_state: bool) -> str:
    """"limit, largest": twice the largest value of the others, and the largest of the part left out. Where some are beyond the
    limit, also the number of its layers, forms and arrays beyond it."""
    def largest(rows: list[Row]) -> list[float]:
        return [float(row[f"{of}_largest"]) for row in rows if (row["part"] in ("state", "dstate")) == of_state]

    if not largest(others) or not largest(part):
        return ""
    limit = 2 * max(largest(others))
    beyond = sum(x > limit for x in largest(part))
    return f"{number(limit)}, {number(max(largest(part)))}" + (f" ({beyond} beyond)" if beyond else "")


def on_gpus(chosen: Callable[[list[Row]], tuple[list[str], list[list[str]]]], origin: bool = False) -> list[str]:
    _, data = read("ranks-gpu.csv")
    return [*table(*chosen(data)), *(origin_of("ranks-gpu.csv") if origin else [])]


TABLES = {
    "ranks-strong": lambda: on_gpus(scaling.strong),
    "ranks-longer": lambda: on_gpus(scaling.longer, origin=True),
    "ranks-predicted": lambda: on_gpus(scaling.predicted),
    "ledger": ledger,
    "statements": catalogue.ledger,
    "commands": catalogue.commands,
    "layers": catalogue.layers,
    "states": catalogue.states,
    "tasks": catalogue.tasks,
    "training": trained.suites,
    "training-statements": trained.statements,
    "limits": limits,
    "state-32k": lambda: ranking("state-32k"),
    "fla": lambda: right_kernels("check-right-fla.csv"),
    "fla-log-gates": lambda: right_kernels("check-right-fla-log-gates.csv"),
    "pytest": lambda: by_kernel("check-pytest-gpu.csv"),
    "own": lambda: right_kernels("check-right-own.csv"),
    "own-on-a-gpu": lambda: right_kernels("check-right-gpu.csv"),
    "criteria": criteria,
    "mistakes": mistakes,
}


def rendered(text: str) -> str:
    return rendering.rendered(text, "table", lambda name: TABLES[name]() if name in TABLES else as_it_is(name))


def main() -> int:
    stale = []
    for path in sorted(glob.glob(os.path.join(HERE, "*.md"))):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        new = rendered(text)
        if new == text:
            continue
        stale.append(path)
        if "--check" not in sys.argv:
            with open(path, "w", encoding="utf-8") as file:
                file.write(new)
    if "--check" in sys.argv and stale:
        print("not current: " + ", ".join(map(os.path.basename, stale)) + "; run ci/derive.sh", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
