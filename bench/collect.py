#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a small table from the result files of `recollect bench -o`: one CSV per device, kept in bench/results.

    bench/collect.py a.h5 b.h5 ... -o bench/results/nvidia_h100.csv

Lines that begin with # state the origin of the rows: device, commits, commands, ceilings (peak rates). On a CPU the device is
the processor with its number of threads, and a line states the governor, turbo, load and pinning. All files must be of one
device. If several files have times of the same case, its row comes from the last of them. --add keeps the lines about the
origin in OUTPUT, and its rows except those of cases that were timed again. --note adds a line about something that the files
do not state."""
from __future__ import annotations

import argparse
import csv
import os
import re
import sys

import h5py

COLUMNS = ["source", "variant", "form", "pass", "B", "H", "T", "Dk", "Dv", "storage", "math", "without", "texts", "qk_heads", "status", "reason",
           "median_seconds", "low_seconds", "high_seconds", "noise", "samples", "clock", "discarded", "kept_slow", "stopped_by", "method",
           "limit_seconds", "bound", "error", "commit"]
CASE = ["source", "variant", "form", "pass", "B", "H", "T", "Dk", "Dv", "storage", "math", "without", "texts", "qk_heads"]
PATH = r"(?<![^\s=])/\S*/"  # the folders of an absolute path, which another machine does not have
SHORT = {"median_seconds", "low_seconds", "high_seconds", "noise", "clock", "limit_seconds", "error"}  # four digits are enough


def text(value: object) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


def rows_of(file: h5py.File, table: str) -> list[dict[str, str]]:
    data = file[table][()]
    return [{name: text(row[name]) for name in data.dtype.names} for row in data]


def meta_of(file: h5py.File) -> dict[str, str]:
    return {name: text(value) for name, value in file["meta"].attrs.items()} if hasattr(file["meta"], "attrs") and len(
        file["meta"].attrs) else {row["name"]: row["value"] for row in rows_of(file, "meta")}


def commit_of(meta: dict[str, str]) -> str:
    return meta.get("git_commit", "")[:10] + (", changed since" if meta.get("git_dirty", "") in ("1", "true", "yes") else "")


def device_of(meta: dict[str, str]) -> str:
    """The GPU, or the processor and the number of threads."""
    device = meta.get("device", "unknown")
    return f"{meta.get('cpu_model', 'an unknown processor')}, {meta['concurrency']} threads" if device == "host" else device


def conditions_of(meta: dict[str, str]) -> list[str]:
    """A line about what may have disturbed the clock of a CPU; nothing for a GPU."""
    if meta.get("device") != "host":
        return []
    asked = {"governor": "cpu_governor", "turbo": "cpu_turbo", "load before": "load_average", "threads pinned": "threads_pinned"}
    return ["conditions: " + ", ".join(f"{name} {meta.get(fact, 'unknown')}" for name, fact in asked.items())]


def shortened(row: dict[str, str]) -> dict[str, str]:
    """The row's COLUMNS, numbers with four digits. A column that an older file lacks is empty. qk_heads is empty instead of 0,
    which means that q and k have as many heads as v."""
    short = lambda name: f"{float(row[name]):.4g}" if name in SHORT else row[name]  # noqa: E731
    return {name: short(name) if name in row and (name, row[name]) != ("qk_heads", "0") else "" for name in COLUMNS}


def case_of(row: dict[str, str]) -> tuple[str, ...]:
    return tuple(row.get(name, "") for name in CASE)


def collected(paths: list[str]) -> tuple[list[str], list[dict[str, str]]]:
    """(lines about the origin, rows) of all files."""
    devices, commands, conditions, limits, rows = {}, [], {}, {}, {}
    for path in paths:
        with h5py.File(path, "r") as file:
            meta = meta_of(file)
            devices[device_of(meta)] = None
            conditions.update(dict.fromkeys(conditions_of(meta)))
            words = meta.get("command_line", "").split(" ", 1)[-1]  # without the program, which may be anywhere
            commands.append(f"recollect {re.sub(PATH, '', words)} ({commit_of(meta)})")
            for one in rows_of(file, "ceilings"):
                if one["kernel"]:
                    kept = limits.get((one["name"], one["kernel"], one["size"]), 0.0)
                    limits[one["name"], one["kernel"], one["size"]] = max(kept, float(one["value"]))
            for row in rows_of(file, "bench"):
                row = shortened({**row, "commit": meta.get("git_commit", "")[:10]})
                rows[case_of(row)] = row
    if len(devices) > 1:
        raise SystemExit("collect.py: files of several devices: " + ", ".join(devices) + "; collect each into a file of its own")
    best: dict[str, tuple[float, str]] = {}
    for (name, kernel, size), value in limits.items():
        best[name] = max(best.get(name, (0.0, "")), (value, f"{kernel}, {size}"))
    ceilings = "; ".join(f"{name} {value:.4g} per second ({kernel})" for name, (value, kernel) in sorted(best.items()))
    origin = [f"device: {next(iter(devices), 'unknown')}", *(f"command: {line}" for line in commands), *conditions, f"ceilings: {ceilings}"]
    return origin, list(rows.values())


def kept_of(path: str, rows: list[dict[str, str]]) -> tuple[list[str], list[dict[str, str]]]:
    """(lines about the origin, rows) of a table that this program wrote earlier, without the cases of `rows`."""
    with open(path, encoding="utf-8", newline="") as file:
        lines = file.read().splitlines()
    anew = set(map(case_of, rows))
    kept = [row for row in csv.DictReader(line for line in lines if not line.startswith("#")) if case_of(row) not in anew]
    return [line[2:] for line in lines if line.startswith("#")], kept


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+")
    parser.add_argument("-o", "--output", required=True)
    parser.add_argument("--add", action="store_true", help="keep the rows of OUTPUT for other cases")
    parser.add_argument("--note", action="append", default=[], help="one more line about the origin (repeatable)")
    args = parser.parse_args()
    origin, rows = collected(args.files)
    if args.add:
        before, kept = kept_of(args.output, rows)
        if before[0] != origin[0]:
            raise SystemExit(f"collect.py: {args.output} is of another device: {before[0]}, not {origin[0]}")
        origin, rows = [*before, *origin[1:]], [*kept, *rows]
    origin += args.note
    partial = args.output + ".partial"
    with open(partial, "w", encoding="utf-8", newline="") as out:
        out.writelines(f"# {line}\n" for line in origin)
        writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    os.replace(partial, args.output)
    print(f"{len(rows)} rows", file=sys.stderr)


if __name__ == "__main__":
    main()
