# SPDX-License-Identifier: Apache-2.0
"""The page's sections about claims: verdicts, failures, explanations, slips of notation, what is not tested."""
import explain
from findings import FOUND, counts, decisive, distance, needs_explaining, outcome, paper_of, strain
from markup import Markup, anchor, bad, badge, figure, join, link, missing, muted, predicted, table, tag
from style import number, params_text, words

MOST_POINTS = 16
NONE = ("No file holds verdicts.", "recollect verify -o v.h5")


def by_paper(claim):
    return paper_of(claim), claim["id"]


def versus(point):
    """Measured against predicted, as a table cell's content."""
    if not point:
        return "nothing measured"
    error = muted(f" ± {number(point['standard_error'], 2)}") if point["standard_error"] else ""
    measured = tag("span", number(point["measured"]), error, class_="num")
    return join([measured, Markup("<br>"), muted("vs "), tag("span", predicted(point), class_="num")])


def row(p, named, last):
    """A point's or rival's row: its names, where and what was measured, one more number, its verdict."""
    error = number(p["standard_error"], 2) if p["standard_error"] else "exact"
    numbers = [number(p["measured"]), predicted(p), error, number(p["tolerance"], 2), last]
    said = [tag("td", n) for n in (*named, params_text(p["params"]))]
    cells = [*said, *(tag("td", n, class_="num") for n in numbers), tag("td", words(p["verdict"]))]
    return tag("tr", *cells, class_=p["verdict"])


def notices(p):
    """What a point would notice: of a bound its tightness."""
    if p["sensitivity"] != p["sensitivity"]:
        return "–"
    if p["relation"] != "equal":
        return f"tight to {number(p['sensitivity'], 3)}"
    return f"{number(100 * p['sensitivity'], 2)} %"


def shown_table(head, ranked, to_row, what):
    shown = tag("div", table(head, map(to_row, ranked[:MOST_POINTS]), class_="points"), class_="scroll")
    hidden = len(ranked) - MOST_POINTS
    return join([shown, tag("p", f"{hidden} more {what} are in the file.", class_="muted") if hidden > 0 else ""])


def points_table(claim):
    head = ("role", "point", "at", "measured", "predicted", "std. error", "tolerance", "notices", "verdict")
    ranked = sorted(claim["points"], key=strain, reverse=True)
    return shown_table(head, ranked, lambda p: row(p, (p["role"], p["label"]), notices(p)), "points")


def rivals_table(claim):
    """The nearest first: it is the one that the check could most easily have taken for the truth."""
    head = ("rival", "kind", "at", "measured", "predicted", "std. error", "tolerance", "apart (tolerances)", "verdict")
    ranked = sorted(claim["rivals"], key=lambda p: (p["verdict"] == "refuted", distance(p)))
    return shown_table(head, ranked, lambda p: row(p, (p["label"], p["rival"]), number(distance(p), 3)), "rivals")


def statement_cell(claim):
    failed = [tag("p", s, class_="bad") for s in explain.why_failed(claim)] if outcome(claim) == "failed" else []
    exact = tag("p", tag("b", "Exact form, condition or correction. "), claim["exact"]) if claim["exact"] else ""
    if not claim["points"]:
        return join([claim["statement"], *failed, exact])
    summary = tag("summary", f"{len(claim['points'])} points, {len(claim['rivals'])} rivals, exact form")
    return join([claim["statement"], *failed, tag("details", summary, exact, points_table(claim), rivals_table(claim))])


def rivals_line(claim):
    rivals = claim["rivals"]
    told = sum(p["verdict"] == "refuted" for p in rivals)
    text = f"{told} of {len(rivals)} rivals refuted" if rivals else "no rival"
    return muted(text) if rivals and told == len(rivals) else bad(text)


def verdict_cell(claim):
    """Found against expected, passed or failed, and whether its rivals were told apart."""
    said = join([badge(claim["verdict"], outcome(claim)), " ", tag("span", claim["scope"], class_="scope")])
    if claim["reason"]:
        return join([said, muted(words(claim["reason"]))], Markup("<br>"))
    expected = f"expected: {words(claim['expected']) or 'unknown'}"
    lines = [
        said,
        muted(expected) if claim["verdict"] == claim["expected"] else bad(expected),
        tag("span", "✓ passed", class_="pass") if claim["passed"] else bad("✗ FAILED"),
        rivals_line(claim),
        muted(f"system: {claim['system']}") if claim["system"] else "",
    ]
    if needs_explaining(claim):
        lines.append(tag("a", "explained", href="#why-" + anchor(claim["id"])))
    return join([line for line in lines if line], Markup("<br>"))


def verdict_row(claim):
    found, id = outcome(claim), claim["id"]
    key = [id, id.replace("_", "-"), claim["source"], claim["statement"], claim["scope"], claim["reason"]]
    cells = [
        ("Claim", join([link(claim), tag("div", claim["source"], class_="muted")])),
        ("Paraphrase", statement_cell(claim)),
        ("Verdict", verdict_cell(claim)),
        ("Measured vs predicted", versus(decisive(claim))),
        ("Covers", tag("div", join(claim["covers"], Markup("<br>")), class_="covers")),
    ]
    return tag(
        "tr",
        *(tag("td", content, data_label=label) for label, content in cells),
        id=anchor(id),
        class_=found,
        data_paper=paper_of(claim),
        data_outcome=found,
        data_key=" ".join([*key, *claim["covers"]]).lower(),
    )


def chooser(label, name, values):
    """values: (value, words) pairs."""
    options = [tag("option", "all", value=""), *(tag("option", said, value=v) for v, said in values)]
    return tag("label", label, " ", tag("select", *options, name=name))


def verdict_section(results, pictures):
    claims = results["claims"]
    if not claims:
        return missing(*NONE)
    search = Markup('<label>Search <input type="search" name="words" placeholder="id, statement, source, row"></label>')
    papers = chooser("Paper", "paper", [(p, p) for p in sorted({paper_of(c) for c in claims})])
    found = chooser("Found", "outcome", [(name, FOUND[name][1]) for name in counts(claims)])
    count = tag("output", aria_live="polite")
    form = tag("form", search, papers, found, count, id="filter", hidden="")
    ordered = sorted(claims, key=lambda c: (outcome(c) != "failed", *by_paper(c)))
    head = ("Claim", "Paraphrase of the statement", "Verdict", "Measured vs predicted", "Covers")
    note = (
        "Measured vs predicted shows the decisive point: the statement where it fails, else the point nearest to its "
        "tolerance; ± is one standard error. A rival is a nearby law or system that is wrong: it must be refuted. "
        "What a point notices is the smallest relative error of its prediction that 95 % of runs would refute; a bound "
        "is tight to the share of it that was reached."
    )
    body = table(head, map(verdict_row, ordered), class_="verdicts")
    return join([figure(pictures["verdicts_by_paper"]), form, body, tag("p", note, class_="muted")])


def drawn(claim, pictures):
    picture = pictures.get("claim_" + claim["id"])
    return figure(picture) if picture else ""


def failed_section(results, pictures):
    """Every claim that did not pass, with the reason, and the runs that failed; empty when there is neither."""
    parts = []
    runs = sum(case["status"] == "failed" for case in results["cases"])
    if runs:
        where = tag("a", "the matrix", href="#matrix")
        parts.append(tag("p", f"{runs} of {len(results['cases'])} runs failed: ", where, " says why."))
    for claim in results["claims"]:
        if outcome(claim) == "failed":
            reasons = [tag("p", s) for s in explain.why_failed(claim)]
            source = tag("p", f"{claim['source']}: {claim['statement']}", class_="source")
            parts.append(join([tag("h3", link(claim)), source, *reasons, drawn(claim, pictures)]))
    return tag("section", tag("h2", "Failed"), *parts, id="failed", class_="alarm") if parts else ""


def explanation(claim, pictures):
    label = "What is true instead. " if claim["verdict"] == "refuted" else "Exact form. "
    return tag(
        "article",
        tag("h3", link(claim), " ", badge(claim["verdict"], outcome(claim))),
        tag("p", claim["source"], class_="source"),
        tag("p", tag("b", "Paraphrase. "), claim["statement"], class_="statement"),
        tag("p", join(explain.explain(claim), " ")),
        tag("p", tag("b", label), claim["exact"], class_="exact") if claim["exact"] else "",
        drawn(claim, pictures),
        id="why-" + anchor(claim["id"]),
    )


def explained_section(results, pictures):
    chosen = sorted(filter(needs_explaining, results["claims"]), key=by_paper)
    if not results["claims"]:
        return missing(*NONE)
    if not chosen:
        return tag("p", "No claim in these files came out, as expected, as refuted or as holding in a limit only.")
    parts = []
    for name in counts(chosen):
        mine = [explanation(c, pictures) for c in chosen if outcome(c) == name]
        title = FOUND[name][1][0].upper() + FOUND[name][1][1:]
        parts += [tag("h3", f"{title} ({len(mine)})", class_="group"), tag("div", *mine, class_="articles")]
    return join(parts)


def listed(claims, after):
    """A claim a line: its id, its source, its statement, and what `after` says of it."""
    ordered = sorted(claims, key=by_paper)
    items = [tag("li", link(c), " ", muted(c["source"]), " ", c["statement"], " ", after(c)) for c in ordered]
    return tag("ul", *items)


def typo_section(results):
    if not results["claims"]:
        return missing(*NONE)
    typos = [c for c in results["claims"] if c["scope"] == "typo"]
    if not typos:
        return tag("p", "No claim in these files is about notation only.")
    lead = "Slips of notation, with the line that is meant. Nothing else rests on them."
    return join([tag("p", lead), listed(typos, lambda c: f"→ {c['exact']}")])


REASONS = {
    "needs_training": "Needs training, and nothing is trained here",
    "needs_gpu": "Needs a GPU",
    "under_specified": "Not specified well enough to be measured",
    "not_numeric": "Not a matter of numbers",
}


def untested_section(results):
    """By reason; a claim that measures something beside such a statement is a claim of its own."""
    if not results["claims"]:
        return missing(*NONE)
    untested = [c for c in results["claims"] if c["reason"]]
    if not untested:
        return tag("p", "No claim in these files is marked as not tested.")
    parts = [tag("p", "No verdict on this page speaks on these statements.")]
    for reason in sorted({c["reason"] for c in untested}, key=lambda r: list(REASONS).index(r) if r in REASONS else 9):
        mine = [c for c in untested if c["reason"] == reason]
        title = f"{REASONS.get(reason, words(reason))} ({len(mine)})"
        parts += [tag("h3", title, class_="group"), listed(mine, lambda c: muted(c["explanation"] or c["exact"]))]
    return join(parts)
