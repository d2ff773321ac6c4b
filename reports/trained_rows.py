# SPDX-License-Identifier: Apache-2.0
"""Gives each row of the ledger one verdict of trained models, if possible of models that have the paper's size.

A row has statements on several experiments. The models of some experiments have the size that the paper gives, others
do not; about some experiments the paper prints nothing. The statements that decide are about experiments that the paper
prints, and their models have the paper's size. If the paper gives no size or no model has it, the widest models decide,
and the verdict says so."""
from __future__ import annotations

import collections
import dataclasses
from typing import Counter

from reports import papers
from reports.figures.style import params_text
from reports.records import Judged, Results, Statement

SIZE = ("width", "layers", "steps")  # settings for the size of a model and the length of its training


def claim_of(row: str) -> str:
    """The id of the claim that belongs to a row: "vla_copy_task" for "vla-copy-task"."""
    return row.replace("-", "_")


def sizes(results: Results) -> dict[tuple[int, str], dict[str, float]]:
    """{(file, experiment): {setting: its largest value}} for the settings SIZE."""
    found: dict[tuple[int, str], dict[str, float]] = {}
    for run in results.trainings:
        mine = found.setdefault((run.file, run.experiment), {})
        for name in SIZE:
            value = run.settings.get(name)
            if isinstance(value, (int, float)):
                mine[name] = max(mine.get(name, value), value)
    return found


def described(statements: list[Statement], results: Results) -> list[Statement]:
    """The statements with four fields added: the title of the experiment, what the paper prints about it, the size of
    the models, and whether this is the paper's size. Statements about models of the paper's size come first, then those
    about the widest models."""
    known = sizes(results)
    said = []
    for s in statements:
        experiment, size = results.experiments.get(s.experiment), known.get((s.file, s.experiment), {})
        paper = papers.TRAINED_SIZES.get(s.row)
        as_printed = paper is not None and all(size.get(name) == value for name, value in paper.items())
        title, printed = (experiment.title, experiment.printed) if experiment else ("", "")
        said.append(
            dataclasses.replace(s, title=title or s.experiment, printed=printed, size=size, paper_size=as_printed)
        )
    return sorted(said, key=lambda s: (not s.paper_size, -s.size.get("width", 0), not s.printed))


def deciding(statements: list[Statement]) -> list[Statement]:
    """The statements that decide a row. Only statements about experiments that the paper prints are considered, if
    there are any. Of these, those about models of the paper's size decide; if there are none, those about the widest
    models."""
    mine = [s for s in statements if s.printed] or statements
    as_printed = [s for s in mine if s.paper_size]
    widest = max(s.size.get("width", 0) for s in mine)
    return as_printed or [s for s in mine if s.size.get("width", 0) == widest]


def size_text(statement: Statement) -> str:
    """The size of the models of a statement, and the size that the paper gives, in words."""
    paper = papers.TRAINED_SIZES.get(statement.row)
    mine = params_text({n: v for n, v in statement.size.items() if n != "steps"}) or "unknown size"
    if statement.paper_size:
        return mine + ", the paper's size"
    return mine + (
        f" (the paper's size is {params_text(paper)})" if paper else ", the widest (the paper gives no size)"
    )


def verdict(counts: Counter[str]) -> str:
    """The verdict of a row from {verdict: number of statements}. If some statements are refuted and others hold, the
    row is refuted in part."""
    if counts["refuted"]:
        return "trained_in_part" if counts["holds"] else "trained_refuted"
    return "trained_holds" if counts["holds"] == sum(counts.values()) else "trained_undecided"


def judged(results: Results) -> dict[str, Judged]:
    """{row of the ledger: verdict of trained models} for every row with statements."""
    rows: dict[str, list[Statement]] = {}
    for s in results.statements:
        rows.setdefault(s.row, []).append(s)
    found = {}
    for row, mine in rows.items():
        mine = described(mine, results)
        decide = deciding(mine)
        counts: Counter[str] = collections.Counter(holds=0, refuted=0)
        counts.update(s.verdict for s in decide)
        tally = ", ".join(f"{n} {'hold' if v == 'holds' and n != 1 else v}" for v, n in counts.items() if n)
        number = f"{len(decide)} statement{'s' if len(decide) != 1 else ''}"
        said = f"{number} tested on models of {size_text(decide[0])}: {tally}"
        found[row] = Judged(verdict(counts), counts, said, mine)
    return found


def attach(results: Results) -> None:
    """Sets `trained` of every claim to the verdict of trained models on its row, if there is one."""
    by_claim = {claim_of(row): found for row, found in judged(results).items()}
    for claim in results.claims:
        claim.trained = by_claim.get(claim.id)
