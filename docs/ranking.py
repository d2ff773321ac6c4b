#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The ranking that `recollect run --state-bytes` prints, as a table for docs/data:

    recollect run --state-bytes 32K --variants all --set n=128 | docs/ranking.py "COMMAND" "ORIGIN" >docs/data/state-32k.csv"""

from __future__ import annotations

import csv
import re
import sys

COLUMNS = ["rank", "layer", "d", "dv", "bytes", "mean", "s.e.", "setting"]
PAIR = ["pair", "difference", "95% interval", "p", "q"]


def tables(text: str) -> tuple[str, list[list[str]], list[list[str]]]:
    """(what was measured, the rows of the ranking, the rows of the pairs). Cells are at least two spaces apart, as in a
    pipe, where no row is broken."""
    cells = [re.split(" {2,}", line.strip()) for line in text.splitlines()]
    if COLUMNS not in cells or PAIR not in cells:
        sys.exit("ranking.py: standard input is no output of `recollect run --state-bytes`")
    start, pairs = cells.index(COLUMNS), cells.index(PAIR)
    ranked = [row for row in cells[start + 1 : pairs] if row[0].isdigit()]
    compared = [row for row in cells[pairs + 1 :] if " - " in row[0] and len(row) == len(PAIR)]
    return " ".join(cells[start - 1]), ranked, compared


def main() -> None:
    said, ranked, compared = tables(sys.stdin.read())
    headline = said.partition(": ")[2].partition(" with ")[0]
    command, *origin = sys.argv[1:]
    print(f"# {command} ({said})", *(f"# {line}" for line in origin), sep="\n")
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["rank", "layer", "d", "dv", "bytes", headline, "standard error", "tuned", "behind the first [95%]", "p", "q"])
    if any(len(row) != len(COLUMNS) for row in ranked):
        sys.exit("ranking.py: a ranking of one seed has no standard errors")
    first = ranked[0][1]
    of_first = {row[0].removeprefix(f"{first} - "): row for row in compared if row[0].startswith(f"{first} - ")}
    for rank, layer, d, dv, size, mean, error, setting in ranked:
        behind, interval, p, q = of_first[layer][1:] if layer in of_first else [""] * 4
        told = f"{behind} [{interval.replace(' to ', ', ')}]" if behind else ""
        tuned = setting.removeprefix("tuned: ") if setting.startswith("tuned") else ""
        out.writerow([rank, layer, d, dv, size, mean, error, tuned, told, p, q])


if __name__ == "__main__":
    main()
