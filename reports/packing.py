# SPDX-License-Identifier: Apache-2.0
"""Describes the packed texts and grouped heads of a timed case."""
from __future__ import annotations


def packing_of(row: dict[str, str]) -> str:
    """Packed texts and grouped heads of a row in words; empty if there are none, or if an older file lacks the
    columns."""
    lengths = list(map(int, filter(None, row.get("texts", "").split(","))))
    texts = f"{len(lengths)} texts of {min(lengths)} to {max(lengths)} steps" if lengths else ""
    heads = f"{row['qk_heads']} heads of q and k" if row.get("qk_heads") else ""
    return ", ".join(filter(None, (texts, heads)))
