# SPDX-License-Identifier: Apache-2.0
"""Names packed texts and grouped heads of a timed case."""
from __future__ import annotations


def packing_of(row: dict[str, str]) -> str:
    """What is said of packed texts and grouped heads; empty if there are none. Older files have no such columns."""
    lengths = list(map(int, filter(None, row.get("texts", "").split(","))))
    texts = f"{len(lengths)} texts of {min(lengths)} to {max(lengths)} steps" if lengths else ""
    heads = f"{row['qk_heads']} heads of q and k" if row.get("qk_heads") else ""
    return ", ".join(filter(None, (texts, heads)))
