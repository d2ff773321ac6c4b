# SPDX-License-Identifier: Apache-2.0
"""What pages are rendered with: data files, and text between a marker and `<!-- end -->`."""
from __future__ import annotations

import csv
import os
import textwrap
from collections.abc import Callable

Row = dict[str, str]


def read(path: str) -> tuple[list[str], list[Row]]:
    """(the lines about its origin, which begin with #; rows). ValueError if a row has another number of fields than
    the header."""
    with open(path, encoding="utf-8", newline="") as file:
        lines = file.read().splitlines()
    origin = [line[1:].strip() for line in lines if line.startswith("#")]
    rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
    for row in rows:
        if None in row or None in row.values():
            raise ValueError(f"{os.path.basename(path)}: another number of fields than the header: {row}")
    return origin, rows


def folded(line: str, indent: str = "") -> str:
    """Breaks a long line into lines of at most 130 characters; longer words are not broken."""
    return "\n".join(textwrap.wrap(line, 130, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False))


def origin_lines(origin: list[str]) -> list[str]:
    """The origin of a table: a paragraph in italics with one folded line each."""
    return ["", *(folded(f"*{line}*") + "  " for line in origin)]


def rendered(text: str, marker: str, lines_of: Callable[[str], list[str]]) -> str:
    """Puts lines_of(NAME) between each `<!-- marker: NAME -->` and its end."""
    out, skipping = [], False
    for line in text.splitlines():
        if line == "<!-- end -->":
            skipping = False
        if not skipping:
            out.append(line)
        if line.startswith(f"<!-- {marker}: "):
            out += lines_of(line.split()[2])
            skipping = True
    return "\n".join(out) + "\n"
