# SPDX-License-Identifier: Apache-2.0
"""The first page: what was found."""
from __future__ import annotations

import re

from reports import cells as cells_, findings
from reports.figures.style import number, words
from reports.findings import outcome
from reports.records import Claim, Point
from reports.site import answers, counter_examples, explain
from reports.site.claim_pages import paper_list
from reports.site.frame import Site

TILES = dict(
    holds=("claim holds", "claims hold"),
    holds_under=("holds under a condition", "hold under a condition"),
    holds_asymptotically=("holds in a limit", "hold in a limit"),
    refuted=("is wrong as asserted", "are wrong as asserted"),
)


def wrong(site: Site, most: int = 5) -> list[tuple[Claim, str, Point | None]]:
    """Claims that are wrong as asserted and have a counter-example, in the order of counter_examples: [(claim, the
    example in words, the refuted point)]."""
    by_id = {c.id: c for c in site.claims if outcome(c) == "refuted"}
    shown = [id for id in counter_examples.EXAMPLES if id in by_id][:most]
    return [(by_id[id], counter_examples.EXAMPLES[id]["says"], explain.counter_example(by_id[id])) for id in shown]


def measured_by(site: Site) -> list[tuple[str, str]]:
    """[(command line, suite)] of each file with points. The counts on the first page come from these files."""
    suites = {c.path: c.effort for c in site.claims if c.points}
    commands = {
        f.path: re.sub(r"^\S*/| (-o|--output|--json|--junit) \S+", "", f.meta.get("command_line", ""))
        for f in site.results.files
    }
    return [(commands[path], suite) for path, suite in suites.items()]


def page(site: Site) -> str:
    tested = [c for c in site.claims if not c.reason]
    untested = [c.reason for c in site.claims if outcome(c) == "not_tested"]
    reasons = sorted(set(untested), key=lambda r: (-untested.count(r), r))
    ran = cells_.counts(site.cells)
    return site.render(
        "index.html", "index.html", claims=site.claims, tested=tested, untested=untested,
        untested_tally=", ".join(f"{words(r)}: {untested.count(r)}" for r in reasons),
        trained=sum(outcome(c).startswith("trained_") for c in site.claims), passed=sum(c.passed for c in tested),
        rivals=number(sum(len(c.rivals) for c in site.claims)), counts=findings.counts(site.claims), tiles=TILES,
        papers=paper_list(site), wrong=wrong(site), measured_by=measured_by(site), pictures=site.figures("index"),
        answers=answers.answers(site.matrix), failed=[c for c in site.claims if outcome(c) == "failed"],
        failed_runs=[c for c in site.cells if c.status == "failed"], runs=ran and dict(ran, all=sum(ran.values())),
    )  # fmt: skip
