# SPDX-License-Identifier: Apache-2.0
"""The papers: their names and addresses."""
from __future__ import annotations

import csv
import os

from reports.records import Claim


def _table() -> dict[str, dict[str, str]]:
    """{number of a paper: its row in papers.tsv, with a link to arXiv}. The program reads the same file."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "papers.tsv")
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    for row in rows:
        row["link"] = f"https://arxiv.org/abs/{row['arxiv']}" if row["arxiv"] else ""
    return {row["number"]: row for row in rows}


PAPERS = _table()

# Row of the ledger -> the size of the models that the paper trains for it, where the paper says. 000 does not say the
# size for its figures 4, 6 and 7.
GPT2_SMALL = dict(width=768, layers=12)  # 000 §3.1
LISTING_2 = dict(width=12, layers=1)  # 000 E.4
ONE_LAYER_OF_64 = dict(width=64, layers=1)  # 003 §6
TABLE_6 = dict(width=128, layers=2)  # 004 App B: "for all experiments"
TRAINED_SIZES = {
    "fig2-training": GPT2_SMALL,
    "fig8-training": LISTING_2,
    "mqar-fig3-setup": ONE_LAYER_OF_64,
    "mqar-p128-d64": ONE_LAYER_OF_64,
    "vla-ablation-table4": TABLE_6,
    "vla-baselines-implausible": TABLE_6,
    "vla-copy-task": TABLE_6,
    "vla-fixed-data-loss-zero": TABLE_6,
    "vla-internal-deltanet-n8": TABLE_6,
    "vla-longcontext-trained": TABLE_6,
    "vla-mqar-capacity-curve": TABLE_6,
    "vla-mqar-overload": TABLE_6,
    "vla-nan-without-khat": TABLE_6,
    "vla-ood-table13": TABLE_6,
    "vla-training-log": TABLE_6,
}


def about(paper: str) -> dict[str, str]:
    """The row of a paper in papers.tsv. For a paper that has no row: an empty row with `paper` as its title."""
    return PAPERS.get(paper) or {**dict.fromkeys(next(iter(PAPERS.values())), ""), "title": paper}


def short_name(paper: str) -> str:
    """The title up to its colon, such as "Test-time regression" for "003"; the number itself for an unknown paper."""
    return PAPERS[paper]["title"].split(":")[0] if paper in PAPERS else paper


def bibtex(claim: Claim, verdict: str, meta: dict[str, str]) -> str:
    """The citation of one finding in BibTeX, with its verdict in words and the version, commit and seed that produced
    it."""
    commit = meta.get("git_commit", "")[:12]
    dirty = " with uncommitted changes" if meta.get("git_dirty") == "true" else ""
    version, seed = meta.get("version", "?"), meta.get("seed", "?")
    key = "recollect_" + "".join(c if c.isalnum() else "_" for c in claim.id)
    return (
        f"@misc{{{key},\n  title = {{{{{claim.id}}}: {claim.source}, {verdict}}},\n"
        f"  author = {{{{The recollect developers}}}},\n"
        f"  howpublished = {{recollect {version}, commit {commit}{dirty}, seed {seed}}},\n"
        f"  year = {{{meta.get('start_utc', '?')[:4]}}}\n}}"
    )
