# SPDX-License-Identifier: Apache-2.0
"""The ledger of claims, and a page per claim."""
from __future__ import annotations

import collections
from typing import Callable, Counter, Iterator

from reports import findings, papers
from reports.figures.style import plain
from reports.findings import outcome, paper_of, strain
from reports.records import Claim, Judged, Point
from reports.site import counter_examples, explain
from reports.site.catalogue import Entry
from reports.site.frame import Site

MOST_POINTS = 200


def pages(site: Site) -> Iterator[tuple[str, str]]:
    yield "ledger.html", site.render("ledger.html", "ledger.html", claims=site.claims, papers=paper_list(site),
                                     counts=findings.counts(site.claims))  # fmt: skip
    for claim in site.claims:
        yield f"claims/{claim.id}.html", claim_page(site, claim)


def paper_list(site: Site) -> list[Entry]:
    claims = {p: [c for c in site.claims if paper_of(c) == p] for p in sorted({paper_of(c) for c in site.claims})}
    return [dict(papers.about(p), id=p, short=papers.short_name(p), count=len(mine), found=findings.counts(mine))
            for p, mine in claims.items()]  # fmt: skip


def folded(points: list[Point], group: Callable[[Point], str]) -> list[tuple[Point, int, Counter[str]]]:
    """[(the first point, number of points, {verdict: number of points})], with an element for each group and label of
    points; [] if every element would stand for one point."""
    rows: dict[tuple[str, str], list[Point]] = {}
    for p in points:
        rows.setdefault((group(p), p.label), []).append(p)
    if len(rows) == len(points):
        return []
    return [(mine[0], len(mine), collections.Counter(p.verdict for p in mine)) for mine in rows.values()]


def claim_page(site: Site, c: Claim) -> str:
    metas = {f.path: f.meta for f in site.results.files}
    meta: dict[str, str] = metas.get(c.path, {})
    asked = metas[c.asked_path]["command_line"].split(" ", 1)[-1] if c.asked_path else ""
    effort = " --suite full" if c.effort == "full" else ""
    rivals = sorted(c.rivals, key=lambda p: (p.verdict == "refuted", findings.distance(p)))
    points = sorted(c.points, key=strain, reverse=True)
    verify = f"recollect verify {c.id}{effort} --seed {meta.get('seed', 1)} --points"
    return site.render(
        f"claims/{c.id}.html", "claim.html", claim=c, points=points, rivals=rivals, most=MOST_POINTS,
        paper=dict(papers.about(paper_of(c)), short=papers.short_name(paper_of(c))), explained=explain.explain(c),
        whys=explain.why_failed(c) if outcome(c) == "failed" else [],
        commands=trained_by(site, c.trained) if c.reason else [verify] + [f"recollect {asked}"] * bool(asked),
        printed=printed(c.trained), program=counter_examples.program(c.id),
        example=counter_examples.EXAMPLES[c.id]["says"] if c.id in counter_examples.EXAMPLES else "",
        folded=folded(points, lambda p: p.role), folded_rivals=folded(rivals, lambda p: p.rival),
        picture=site.pictures.get("claim_" + c.id), told=sum(p.verdict == "refuted" for p in c.rivals),
        bibtex=papers.bibtex(c, plain(findings.verdict_text(c)), meta),
    )  # fmt: skip


def trained_by(site: Site, trained: Judged | None) -> list[str]:
    """The commands that trained a row's models. The command for the paper's model size is first."""
    files = [site.results.files[s.file] for s in trained.statements] if trained else []
    return list(dict.fromkeys(f.meta.get("command_line", "") for f in files))


def printed(trained: Judged | None) -> list[tuple[str, str]]:
    """What the paper prints about a row's experiments: [(numbers, title of the experiment)]. The experiment with the
    paper's model size is first."""
    found: dict[str, str] = {}
    for s in trained.statements if trained else ():
        found.setdefault(s.printed, s.title)
    return [(numbers, title) for numbers, title in found.items() if numbers]
