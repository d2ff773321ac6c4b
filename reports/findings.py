# SPDX-License-Identifier: Apache-2.0
"""Summarises findings: the decisive point and the outcome of each, and the counts on the first page."""
from __future__ import annotations

import math

from reports.records import Claim, Point


def distance(point: Point) -> float:
    """The difference of the measured and the predicted value, divided by the tolerance."""
    if point.tolerance > 0:
        return abs(point.measured - point.predicted) / point.tolerance
    return 0.0 if point.measured == point.predicted else math.inf


def strain(point: Point) -> tuple[bool, bool, float]:
    """Sort key: points of the statement rank above points of other roles. Of these, refuted points rank above others;
    then distance() decides."""
    apart = distance(point)
    return (point.role == "statement", point.verdict != "holds", 0.0 if math.isnan(apart) else apart)


def decisive(claim: Claim) -> Point | None:
    """The point with the highest strain(); None if the claim has no points."""
    return max(claim.points, key=strain) if claim.points else None


# Possible outcomes of a claim, in the order of printing -> (words for one claim, words for several).
FOUND = {
    "holds": ("statement holds", "statements hold"),
    "holds_under": ("holds under a condition", "hold under a condition"),
    "holds_asymptotically": ("holds in a limit", "hold in a limit"),
    "refuted": ("refuted as asserted", "refuted as asserted"),
    "boundary": ("refuted in a stricter reading", "refuted in a stricter reading"),
    "typo": ("typo", "typos"),
    "untrained": ("effect of training, absent without it", "effects of training, absent without it"),
    "trained_holds": ("holds for trained models", "hold for trained models"),
    "trained_in_part": ("refuted in part by trained models", "refuted in part by trained models"),
    "trained_refuted": ("refuted by trained models", "refuted by trained models"),
    "trained_undecided": ("undecided by trained models", "undecided by trained models"),
    "not_tested": ("not tested", "not tested"),
    "failed": ("failed", "failed"),
}


def outcome(claim: Claim) -> str:
    """The outcome of a claim, a key of FOUND: "failed" if the claim did not pass; the scope of a refutation; else the
    verdict. If the claim needs training, the verdict of trained models on its row of the ledger."""
    if claim.reason:
        return claim.trained.outcome if claim.trained else "not_tested"
    if not claim.passed:
        return "failed"
    return claim.scope if claim.scope in FOUND else claim.verdict


def verdict_text(claim: Claim) -> str:
    """The verdict as all pages print it: with its scope, reason or condition, in which formulas are marked ($...$). If
    trained models decide the claim, their verdict."""
    found = outcome(claim)
    if found.startswith("trained_"):
        return FOUND[found][0]
    beside = (claim.scope or claim.reason).replace("_", " ") or claim.condition
    return claim.verdict.replace("_", " ") + (f" ({beside})" if beside else "")


def counts(claims: list[Claim]) -> dict[str, int]:
    """{outcome: number of claims}, in the order of FOUND, without zeros."""
    found = [outcome(c) for c in claims]
    return {name: found.count(name) for name in FOUND if name in found}


def paper_of(claim: Claim) -> str:
    """The number of the paper, with which the source of a claim begins: "000" for "000 Eq 7, Appendix A"."""
    return claim.source.split(" ")[0].rstrip(",;:") or "unknown"


def needs_explaining(claim: Claim) -> bool:
    """Whether the claim is refuted, or holds only under a condition or in a limit, as expected. (An unexpected verdict
    does not count, because it puts our own work in doubt first.) Typos need no explanation."""
    return (
        claim.verdict == claim.expected in ("refuted", "holds_under", "holds_asymptotically") and claim.scope != "typo"
    )
