# SPDX-License-Identifier: Apache-2.0
"""Sentences about one claim: the reason for its verdict, its counter-example, and the reasons if it failed."""
from __future__ import annotations

from reports.figures.style import number, params_text, words
from reports.records import Claim, Point

FAIRNESS = {
    "boundary": "This is a stricter reading than the paper's own: it shows where the statement ends "
    "and does not contradict the text.",
    "untrained": "The paper trained its models and this check trains nothing: it shows what the layer does untrained "
    "and says nothing about the trained number.",
    "typo": "This is a slip of notation; the argument around it stands.",
}


def holds(point: Point) -> bool:
    return point.verdict == "holds"


def compared(point: Point) -> str:
    """A point's values as text: "1.5 ± 0.1 was measured where 2 is predicted", or for a point of the statement
    "... where the statement gives 2"."""
    error = f" ± {number(point.standard_error, 2)}" if point.standard_error else ""
    stated = point.role == "statement"
    given = (
        {"equal": "gives ", "at_most": "allows at most ", "at_least": "asks for at least "}
        if stated
        else {"equal": "", "at_most": "at most ", "at_least": "at least "}
    )
    value = given[point.relation] + number(point.predicted)
    if point.tolerance and not point.predicted and not stated:
        value += f" (tolerance {number(point.tolerance, 2)})"
    return f"{number(point.measured)}{error} was measured where " + (
        f"the statement {value}" if stated else f"{value} is predicted"
    )


def place(point: Point) -> str:
    """The point's parameters as text, first the numbers, then the texts in brackets: "At d = 2 (a read without a
    write)"."""
    numbers = {k: v for k, v in point.params.items() if not isinstance(v, str)}
    said = "; ".join(v for v in [point.label, *point.params.values()] if isinstance(v, str) and v)
    equal = (f"{k} = {number(v)}" for k, v in numbers.items())
    at = "At " + ", ".join(f"${e}$" if e.isascii() else e for e in equal) if numbers else "For one point"
    return f"{at} ({said})" if said else at


def size(point: Point) -> float:
    """The sum of the parameters' absolute values. The smaller it is, the better the point is as a counter-example."""
    return sum(abs(v) for v in point.params.values() if isinstance(v, (int, float)))


def counter_example(claim: Claim) -> Point | None:
    """The refuted point with the smallest parameters; None if no point is refuted. Points of other roles count only if
    no point of the statement is refuted. The user's points count only if the suite has none, because texts are written
    for the suite's points."""
    own = [p for p in claim.points if not p.asked] or claim.points
    refuted = [p for p in own if p.verdict == "refuted"]
    stated = [p for p in refuted if p.role == "statement"]
    return min(stated or refuted, key=size) if refuted else None


def in_its_place(claim: Claim) -> str:
    """One sentence that says at how many points the claim's replacement for the statement holds (its limit, condition
    or exact form); "" if no point measured it."""
    kinds = {"holds_asymptotically": ("limit", "limit"), "holds_under": ("condition", "statement under this condition")}
    wanted, name = kinds.get(claim.verdict, ("obligation", "exact form"))
    mine = [p for p in claim.points if p.role == wanted]
    if not mine:
        return ""
    good = sum(map(holds, mine))
    if good < len(mine):
        return f"The {name} given here was measured at {len(mine)} points and holds at {good} of them only."
    everywhere = {1: "the one point", 2: "both points"}.get(len(mine), f"all {len(mine)} points")
    return f"The {name} given here holds at {everywhere} where it was measured."


def explain(claim: Claim) -> list[str]:
    """Sentences that give the reason for the verdict (from the claim's text), the counter-example, what holds instead,
    and what the claim does not say."""
    example = counter_example(claim)
    measured = f"{place(example)}, {compared(example)}." if example else ""
    sentences = [claim.explanation, measured, in_its_place(claim), FAIRNESS.get(claim.scope, "")]
    return [s for s in sentences if s]


def why_failed(claim: Claim) -> list[str]:
    """Sentences that say why a claim did not pass."""
    if not claim.points:
        return ["No point was measured, and a claim without a measurement never passes."]
    reasons, open_rivals = [], [p for p in claim.rivals if p.verdict != "refuted"]
    if not claim.rivals:
        reasons.append("It has no rival, so nothing shows that the check could have come out otherwise.")
    for p in open_rivals:
        reasons.append(f"Its rival “{p.label}” was not refuted, so the check cannot tell the two apart.")
    if claim.verdict == "inconclusive" and not reasons:
        reasons.append("Its samples are too few for a verdict, and an inconclusive claim never passes.")
    elif claim.verdict not in (claim.expected, "inconclusive"):
        reasons.append(
            f"It was expected to come out as “{words(claim.expected)}” and came out as “{words(claim.verdict)}”."
        )
    broken = [p for p in claim.points if p.role != "statement" and not holds(p)]
    if broken:
        first = broken[0]
        named = " ".join(x for x in (first.role, first.label, params_text(first.params)) if x)
        reasons.append(f"{len(broken)} of its obligations did not hold; the first: {named}, {compared(first)}.")
    return reasons or ["The file records it as failed."]
