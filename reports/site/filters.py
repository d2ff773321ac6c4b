# SPDX-License-Identifier: Apache-2.0
"""Formats values for the templates."""
from __future__ import annotations

from typing import Any, Callable

from markupsafe import Markup, escape

from reports import findings
from reports.cells import tuning
from reports.figures.style import number, params_text, plain, words
from reports.papers import PAPERS
from reports.records import Claim, Point
from reports.site import explain


def breakable(name: object) -> Markup:
    """An identifier in HTML in which a line may break after each underscore and slash."""
    return Markup(str(escape(name)).replace("_", "_<wbr>").replace("/", "/<wbr>"))


def predicted(point: Point) -> str:
    """The prediction as text. If it is a bound or zero, its tolerance is part of the text."""
    relation = {"equal": "", "at_most": "≤ ", "at_least": "≥ "}[point.relation]
    sign = {"equal": "±", "at_most": "+", "at_least": "−"}[point.relation]
    telling = point.tolerance and (relation or not point.predicted)
    return relation + number(point.predicted) + (f" {sign} {number(point.tolerance, 2)}" if telling else "")


def notices(point: Point) -> str:
    """The sensitivity of a point as text: the error that it detects, or for a bound, how tight the bound is."""
    if point.sensitivity != point.sensitivity:
        return "–"
    if point.relation != "equal":
        return f"tight to {number(point.sensitivity, 3)}"
    return f"{number(100 * point.sensitivity, 2)} %"


def search_key(claim: Claim) -> str:
    """The text that the page's search looks through: the claim's texts, its layers and its paper's name."""
    paper = PAPERS.get(findings.paper_of(claim), {})
    id = claim.id
    texts = [id, findings.verdict_text(claim), id.replace("_", "-"), claim.source, claim.statement, claim.exact]
    texts += [claim.scope, claim.reason]
    texts += [paper.get("title", ""), paper.get("authors", ""), *claim.covers, *claim.variants]
    return plain(" ".join(texts)).lower()


FILTERS: dict[str, Callable[..., Any]] = {
    "number": number,
    "words": words,
    "breakable": breakable,
    "predicted": predicted,
    "notices": notices,
    "search_key": search_key,
    "settings": params_text,
    "tuning": tuning,
    "outcome": findings.outcome,
    "verdict": findings.verdict_text,
    "decisive": findings.decisive,
    "distance": findings.distance,
    "paper": findings.paper_of,
    "why_failed": explain.why_failed,
}
