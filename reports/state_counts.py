# SPDX-License-Identifier: Apache-2.0
"""Reads state_counts.tsv: how papers and public code count the numbers in the state of one head of a layer. Formulas
are written as the program writes them; T is the number of steps."""

from __future__ import annotations

import csv
import os


def state_counts() -> dict[str, dict[str, str]]:
    """{layer: its row}. A row has `numbers` (the count), `source`, and `difference` (from the program's count, in
    words)."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "state_counts.tsv")
    with open(path, encoding="utf-8", newline="") as file:
        return {row["layer"]: row for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)}
