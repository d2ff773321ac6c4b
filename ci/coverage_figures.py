#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints which lines and branches of harness/core, harness/files and harness/check the tests of a coverage build ran.

    ci/coverage_figures.py BUILD          # every outcome that no test had, one per line; then the sums
    ci/coverage_figures.py BUILD --csv    # the rows of docs/data/coverage.csv

A condition of the source (of if, for, while, ?:, and each operand of && and ||) has two outcomes, and so has a case."""

from __future__ import annotations

import collections
import glob
import json
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def exported(build: str) -> list[dict]:
    merged = os.path.join(build, "profiles", "all.profdata")
    raw = glob.glob(os.path.join(build, "profiles", "*.profraw"))
    subprocess.run(["llvm-profdata", "merge", "-sparse", "-o", merged, *raw], check=True)
    programs = [os.path.join(build, "tests"), "-object", os.path.join(build, "recollect")]
    command = ["llvm-cov", "export", "-instr-profile", merged, *programs]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)["data"][0]["files"]


def outcomes(file: dict) -> dict[tuple[int, int, int, int, bool], int]:
    """{(begin and end of a condition, outcome): how often it occurred}, summed over the instances of a template."""
    times: dict[tuple[int, int, int, int, bool], int] = collections.Counter()
    for *place, if_true, if_false, _, _, _ in file["branches"]:
        times[(*place, True)] += if_true
        times[(*place, False)] += if_false
    return times


def row(name: str, sums: list[int]) -> str:
    lines, run, branches, taken = sums
    return f"{name},{run} of {lines},{taken} of {branches},{100 * taken / branches:.0f}%"


def main() -> int:
    build, csv = os.path.abspath(sys.argv[1]), "--csv" in sys.argv
    sums: dict[str, list[int]] = collections.defaultdict(lambda: [0, 0, 0, 0])
    rows = []
    for file in sorted(exported(build), key=lambda one: one["filename"]):
        name = os.path.relpath(file["filename"], ROOT)
        folder = os.path.dirname(name)
        if folder not in ("harness/core", "harness/files", "harness/check") or not name.endswith(".cpp"):
            continue
        with open(file["filename"], encoding="utf-8") as source:
            text = source.read().split("\n")
        times, lines = outcomes(file), file["summary"]["lines"]
        figures = [lines["count"], lines["covered"], len(times), sum(n > 0 for n in times.values())]
        for key in ("all", "all of " + folder):
            sums[key] = [a + b for a, b in zip(sums[key], figures)]
        if figures[2]:
            rows.append(row(name, figures))
        for (line, column, end, last, outcome), n in sorted(times.items()):
            if n == 0 and not csv:
                condition = text[line - 1][column - 1 : last - 1 if end == line else None]
                print(f"{name}:{line}: never {str(outcome).lower()}: {condition}")
    if csv:
        print("file,lines run,branches taken,share of branches")
    for key in sorted(sums, reverse=True):
        rows.insert(0, row(key, sums[key]))
    print("\n".join(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
