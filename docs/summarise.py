#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sums up judged arrays, one row per layer, form, type and part:

    docs/summarise.py RECORD.csv "# origin" ... >docs/data/check-right-NAME.csv

RECORD.csv has one row per array (`recollect check --self --record`): layer, form, type, part, row, head, verdict."""

from __future__ import annotations

import collections
import csv
import statistics
import sys

COLUMNS = ("layer", "form", "type", "part", "arrays", "row_median", "row_largest", "head_median", "head_largest")
VERDICTS = ("right", "wrong", "undecided")
SAID = {"WRONG": "wrong", "cannot decide": "undecided"}  # as `check` prints them


def main() -> None:
    groups: dict[tuple[str, ...], list[dict[str, str]]] = collections.defaultdict(list)
    with open(sys.argv[1], encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            row["verdict"] = SAID.get(row["verdict"], row["verdict"])
            groups[tuple(row[key] for key in COLUMNS[:4])].append(row)
    for line in sys.argv[2:]:
        print("#", line.lstrip("# "))
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow([*COLUMNS, *VERDICTS])
    for key, mine in sorted(groups.items()):
        numbers = []
        for which in ("row", "head"):
            ratios = [float(row[which]) for row in mine if row["verdict"] == "right"]
            numbers += [f"{statistics.median(ratios):.3g}", f"{max(ratios):.3g}"] if ratios else ["", ""]
        counts = collections.Counter(row["verdict"] for row in mine)
        out.writerow([*key, len(mine), *numbers, *(counts[verdict] for verdict in VERDICTS)])


if __name__ == "__main__":
    main()
