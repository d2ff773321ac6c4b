# SPDX-License-Identifier: Apache-2.0
"""What the program says about itself, as Markdown: its commands, layers, tasks and claims.

The program is $RECOLLECT_PROGRAM, or build/recollect."""

from __future__ import annotations

import collections
import functools
import json
import os
import re
import subprocess
import sys
from typing import Any

Entry = dict[str, Any]
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, ROOT)
from reports.state_counts import state_counts  # noqa: E402


def said(*words: str) -> str:
    """The program's output, in lines of at most 120 columns."""
    program = os.environ.get("RECOLLECT_PROGRAM") or os.path.join(ROOT, "build", "recollect")
    if not os.path.exists(program):
        raise SystemExit(f"no program at {program}: build it, or set RECOLLECT_PROGRAM")
    environment = {**os.environ, "COLUMNS": "120"}
    return subprocess.run([program, *words], check=True, capture_output=True, text=True, env=environment).stdout


@functools.cache
def listed(kind: str) -> list[Entry]:
    entries: list[Entry] = json.loads(said("list", kind, "--json"))
    return entries


def table(columns: list[str], rows: list[list[str]]) -> list[str]:
    return ["| " + " | ".join(row) + " |" for row in [columns, ["---"] * len(columns), *rows]]


def code(text: str) -> str:
    """A formula or name as code in a cell, without the marks of formulas."""
    return "`" + text.replace("$", "").replace("|", r"\|") + "`" if text else ""


def plain(text: str) -> str:
    """A text in a cell; its formulas are code. A text without marks, but with an index or an equals sign, is code as a whole."""
    parts = text.split("$")
    if len(parts) == 1 and re.search(r"_\w|=", text):
        return code(text)
    return "".join(code(part) if i % 2 else part.replace("|", r"\|") for i, part in enumerate(parts))


def link(folder: str, name: str) -> str:
    return f"[{name}](../{folder}/{name}.cpp)"


# --- commands -----------------------------------------------------------------------------------------------------------


def command_names() -> list[str]:
    return re.findall(r"^  ([a-z]+) ", said("--help"), re.M)


def commands() -> list[str]:
    lines = ["", "```text", *said("--help").rstrip().splitlines(), "```"]
    for name in command_names():
        lines += ["", f"## {name}", "", "```text", *(line.rstrip() for line in said(name, "--help").rstrip().splitlines()), "```"]
    return [*lines, ""]


# --- layers and tasks ---------------------------------------------------------------------------------------------------


def state(layer: Entry) -> str:
    rows, columns = layer["state"]["rows"], layer["state"]["columns"]
    return f"{rows} x {columns}" if rows * columns else "grows with T"


def inputs(layer: Entry) -> str:
    choice = layer["needs_one_of"]
    return ", ".join(i["name"] + ("" if i["required"] else "*" if i["name"] in choice else "?") for i in layer["inputs"])


def forms(layer: Entry) -> str:
    marks = [(form["name"], "" if form["exact"] else " (approximate)", ", backward" * form["backward"]) for form in layer["forms"]]
    return "; ".join("".join(parts) for parts in marks if parts[0] != "recurrent")


def layers() -> list[str]:
    families: dict[str, list[list[str]]] = collections.defaultdict(list)
    for layer in listed("variants"):
        name = link("variants", layer["name"]) + "".join(f", {alias}" for alias in layer["aliases"])
        families[layer["family"]].append(
            [name, plain(layer["update"]), inputs(layer), state(layer), forms(layer), plain(layer["source"])]
        )
    lines = []
    for family, rows in sorted(families.items()):
        lines += ["", f"## {family}", "", *table(["layer", "update rule", "inputs", "state", "fast forms", "source"], rows)]
    return [*lines, ""]


def states() -> list[str]:
    """One line per layer: the numbers of a head's state, its bytes, and how others count it."""
    others, rows = state_counts(), []
    for layer in listed("variants"):
        size, other = layer["state"], others.get(layer["name"], {})
        numbers = ", ".join(map(code, [size["numbers"], *size["fixed"]]))
        sizes = [str(size["bytes"].get(d, "")) for d in ("64", "128")]
        counted = ", ".join(filter(None, [code(other.get("numbers", "")), other.get("difference", "")]))
        rows.append([link("variants", layer["name"]), numbers, *sizes, counted, other.get("source", "")])
    columns = ["layer", "numbers of one head", "bytes at 64", "bytes at 128", "counted elsewhere", "where"]
    return ["", *table(columns, rows), ""]


def tasks() -> list[str]:
    rows = [
        [link("tasks", task["name"]), plain(task["summary"]), ", ".join(m["name"] for m in task["metrics"]), plain(task["source"])]
        for task in listed("tasks")
    ]
    return ["", *table(["task", "what it asks", "metrics, the headline first", "source"], rows), ""]


# --- the ledger ---------------------------------------------------------------------------------------------------------


def expected(claim: Entry) -> str:
    """The expected verdict with its scope or reason: "refuted (typo)"."""
    why = claim["scope"] or claim["reason"]
    return f"{claim['expected']} ({why})" if why else str(claim["expected"])


def rows_of_ledger() -> list[tuple[str, str]]:
    """(row, verdict) of every checkable statement: rows of the independent study of 000 to 004, and claims of other
    papers, which are rows of their own."""
    with open(os.path.join(ROOT, "tests", "theory", "ledger.txt"), encoding="utf-8") as file:
        cells = [line.rstrip("\n").split("\t") for line in file if line.strip() and not line.startswith("#")]
    others = [(row, expected(claim)) for claim in listed("claims") if not claim["paper"].startswith("00") for row in claim["covers"]]
    return [*((row, verdict) for row, verdict in cells), *others]


def ledger() -> list[str]:
    """One line per statement: its verdict, the claim that measures it, and its place in the paper."""
    claims = {row.replace("-", "_"): claim for claim in listed("claims") for row in claim["covers"]}
    rows = []
    for row, verdict in rows_of_ledger():
        claim = claims.get(row.replace("-", "_"))
        measured = [claim["source"], verdict, f"[{claim['id']}](../{claim['file']})"] if claim else ["", verdict, ""]
        rows.append([row, *measured])
    return ["", *table(["statement", "place", "verdict", "claim"], rows), ""]
