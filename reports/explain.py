# SPDX-License-Identifier: Apache-2.0
"""Plain sentences about one claim: what the paper states, what holds, where it stops, what to use instead."""
import json
import os

from style import number, params_text, words

with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "texts.json"), encoding="utf-8") as _file:
    TEXTS = json.load(_file)

FAIRNESS = {
    "boundary": "This is a stricter reading than the paper's own: it marks where the statement stops "
    "and does not contradict the text.",
    "untrained": "The paper trained its models and this check trains nothing: it shows what the layer does untrained "
    "and says nothing on the trained number.",
    "typo": "This is a slip of notation; the argument around it stands.",
}


def holds(point):
    return point["verdict"] == "holds"


def needs_explaining(claim):
    """Refuted or true in a limit, as expected. Any other verdict puts our own work in doubt first."""
    return claim["verdict"] == claim["expected"] in ("refuted", "holds_asymptotically") and claim["scope"] != "typo"


def compared(point):
    """ "1.5 ± 0.1 was measured where 2 is predicted"; for tier "paper": "... where the statement gives 2"."""
    error = f" ± {number(point['standard_error'], 2)}" if point["standard_error"] else ""
    given = (
        {"equal": "gives ", "at_most": "allows at most ", "at_least": "asks for at least "}
        if point["tier"] == "paper"
        else {"equal": "", "at_most": "at most ", "at_least": "at least "}
    )
    value = given[point["relation"]] + number(point["predicted"])
    if point["tolerance"] and not point["predicted"] and point["tier"] != "paper":
        value += f" (tolerance {number(point['tolerance'], 2)})"
    return f"{number(point['measured'])}{error} was measured where " + (
        f"the statement {value}" if point["tier"] == "paper" else f"{value} is predicted"
    )


def place(point):
    """ "At d = 2 (a read without a write)": the numbers, then what the texts say."""
    numbers = {k: v for k, v in point["params"].items() if not isinstance(v, str)}
    said = "; ".join(v for v in point["params"].values() if isinstance(v, str))
    at = f"At {params_text(numbers)}" if numbers else "For one point"
    return f"{at} ({said})" if said else at


def size(point):
    """Small parameters make the better counter-example."""
    return sum(abs(v) for v in point["params"].values() if isinstance(v, (int, float)))


def counter_example(claim):
    """The smallest refuted point of the paper's own statement (of any tier where it has none), or None."""
    refuted = [p for p in claim["points"] if p["verdict"] == "refuted"]
    paper = [p for p in refuted if p["tier"] == "paper"]
    return min(paper or refuted, key=size, default=None)


def obligations(claim):
    """One sentence on what was held in the paper's statement's place, or ""."""
    tiers = ("limit",) if claim["verdict"] == "holds_asymptotically" else ("corrected",)
    mine = [p for p in claim["points"] if p["tier"] in tiers] or [p for p in claim["points"] if p["tier"] != "paper"]
    if not mine:
        return ""
    good = sum(map(holds, mine))
    name = (
        "limit" if mine[0]["tier"] == "limit" else "corrected form" if mine[0]["tier"] == "corrected" else "exact form"
    )
    if good < len(mine):
        return f"The {name} given here was measured at {len(mine)} points and holds at {good} of them only."
    everywhere = {1: "the one point", 2: "both points"}.get(len(mine), f"all {len(mine)} points")
    return f"The {name} given here holds at {everywhere} where it was measured."


def text_for(claim):
    """The hand-written text: by the claim's own id, else by the one ledger row it covers; None without one."""
    rows = [claim["id"].replace("_", "-"), *(claim["covers"] if len(claim["covers"]) == 1 else [])]
    return next((TEXTS["claims"][row] for row in rows if row in TEXTS["claims"]), None)


def explain(claim):
    """At most five sentences."""
    written = text_for(claim)
    example = counter_example(claim)
    measured = f"{place(example)}, {compared(example)}." if example else ""
    if written:
        sentences = [written.get("holds", ""), written.get("stops", ""), measured, written.get("instead", "")]
    else:
        sentences = [measured, obligations(claim)]
    sentences.append(FAIRNESS.get(claim["scope"], ""))
    return [s for s in sentences if s][:5]


def why_failed(claim):
    """Reasons for a claim that did not pass, as sentences."""
    if not claim["points"]:
        return ["It measured no point at all, and nothing measured is never a pass."]
    reasons = []
    if claim["verdict"] == "inconclusive":
        reasons.append("Its samples are too few to tell: inconclusive is never a pass.")
    elif claim["verdict"] != claim["expected"]:
        reasons.append(
            f"It was expected to come out as “{words(claim['expected'])}” and came out as “{words(claim['verdict'])}”."
        )
    broken = [p for p in claim["points"] if p["tier"] != "paper" and not holds(p)]
    if broken:
        reasons.append(
            f"{len(broken)} of its obligations did not hold; the first: {broken[0]['tier']}"
            f"{', ' + params_text(broken[0]['params']) if broken[0]['params'] else ''}, {compared(broken[0])}."
        )
    if claim["control_verdict"] != "refuted":
        reasons.append(
            "Its control, which is wrong on purpose, was not refuted, so the check cannot tell right from wrong."
        )
    return reasons or ["The file records it as failed."]
