# SPDX-License-Identifier: Apache-2.0
"""The tables of docs/training.md, from reports/results/*.h5."""

from __future__ import annotations

import collections
import glob
import os
from typing import Any, Iterator

import h5py

RESULTS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "reports", "results")
Row = dict[str, Any]


def files() -> Iterator[tuple[str, Any]]:
    for path in sorted(glob.glob(os.path.join(RESULTS, "*.h5"))):
        with h5py.File(path, "r") as file:
            yield os.path.basename(path)[:-3], file


def rows(file: Any, name: str) -> list[Row]:
    def plain(value: Any) -> Any:
        return value.decode() if isinstance(value, bytes) else value

    data = file[name][()]
    return [{column: plain(value) for column, value in zip(data.dtype.names, row)} for row in data.tolist()]


def attribute(file: Any, name: str) -> str:
    value = file["meta"].attrs[name]
    return value.decode() if isinstance(value, bytes) else str(value)


def verdict_of(statement: Row) -> str:
    return str(statement["verdict"]).split(" (")[0]


def table(columns: list[str], lines: list[list[str]]) -> list[str]:
    return ["| " + " | ".join(line) + " |" for line in [columns, ["---"] * len(columns), *lines]]


def suites() -> list[str]:
    """One row per suite: number of models, statements by verdict, commit and device."""
    verdicts = ["holds", "refuted", "no difference that matters", "undecided", "not run"]
    lines = []
    for name, file in files():
        models = rows(file, "trained")
        counts = collections.Counter(map(verdict_of, rows(file, "trained_statements")))
        diverged = sum(model["status"] == "diverged" for model in models)
        commits = ", ".join(commit[:7] for commit in attribute(file, "git_commit").split("; "))
        lines.append([f"`{name}`", str(len(models)), str(diverged), *(str(counts[verdict]) for verdict in verdicts), commits,
                      attribute(file, "device").replace("; ", ", ")])  # fmt: skip
    return table(["suite", "models", "diverged", *verdicts, "commit", "device"], lines)


def number(x: float) -> str:
    return f"{x:.3f}"


def side(statement: Row, prefix: str) -> str:
    """One side of a statement: its mean and 95 % interval, its best rate, its number of seeds."""
    if not statement[prefix + "seeds"]:
        return ""
    if statement[prefix + "diverged"] == statement[prefix + "seeds"]:
        return "diverged"
    mean, low, high = (number(statement[prefix + name]) for name in ("mean", "low", "high"))
    diverged = f", {statement[prefix + 'diverged']} diverged" if statement[prefix + "diverged"] else ""
    return f"{mean} [{low}, {high}], {statement[prefix + 'seeds']} seeds{diverged}"


def statements() -> list[str]:
    """A folded table per suite: every statement, what was measured, and its verdict."""
    out: list[str] = []
    for name, file in files():
        lines = []
        for statement in rows(file, "trained_statements"):
            p = statement["adjusted"]
            lines.append([statement["row"], statement["paper"], statement["says"], side(statement, ""), side(statement, "other_"),
                          "" if p != p else f"{p:.2g}", statement["verdict"]])  # fmt: skip
        columns = ["row of the ledger", "paper", "statement", "measured", "compared with", "p", "verdict"]
        cells = [[cell.replace("|", "\\|") for cell in line] for line in lines]
        out += ["", f"<details><summary>{name}</summary>", "", *table(columns, cells), "", "</details>"]
    return out
