# SPDX-License-Identifier: Apache-2.0
"""The page's sections about claims: verdicts, failures, explanations, slips of notation, what is out of reach."""
import explain
import figures
from markup import MARKS, Markup, anchor, bad, badge, figure, join, link, missing, muted, predicted, table, tag
from read import decisive, strain
from style import number, params_text, words

MOST_POINTS = 16
NONE = ("No file holds verdicts.", "recollect verify -o v.h5")


def by_paper(claim):
    return figures.paper_of(claim), claim["id"]


def versus(point):
    """Measured against predicted, as a table cell's content."""
    if not point:
        return "nothing measured"
    error = muted(f" ± {number(point['standard_error'], 2)}") if point["standard_error"] else ""
    measured = tag("span", number(point["measured"]), error, class_="num")
    return join([measured, Markup("<br>"), muted("vs "), tag("span", predicted(point), class_="num")])


def point_row(p):
    error = number(p["standard_error"], 2) if p["standard_error"] else "exact"
    numbers = [number(p["measured"]), predicted(p), error, number(p["tolerance"], 2)]
    cells = [tag("td", p["tier"]), tag("td", params_text(p["params"])), *(tag("td", n, class_="num") for n in numbers)]
    return tag("tr", *cells, tag("td", words(p["verdict"])), class_=p["verdict"])


def points_table(claim):
    ranked = sorted(claim["points"], key=strain, reverse=True)
    head = ("tier", "at", "measured", "predicted", "std. error", "tolerance", "verdict")
    shown = tag("div", table(head, map(point_row, ranked[:MOST_POINTS]), class_="points"), class_="scroll")
    hidden = len(ranked) - MOST_POINTS
    return join([shown, tag("p", f"{hidden} more points are in the file.", class_="muted") if hidden > 0 else ""])


def statement_cell(claim):
    failed = [tag("p", s, class_="bad") for s in explain.why_failed(claim)] if not claim["passed"] else []
    exact = tag("p", tag("b", "Exact form, condition or correction. "), claim["exact"]) if claim["exact"] else ""
    summary = tag("summary", f"{len(claim['points'])} points, exact form")
    return join([claim["statement"], *failed, tag("details", summary, exact, points_table(claim))])


def verdict_cell(claim):
    """Found against expected, passed or failed, and what its control did."""
    expected = f"expected: {words(claim['expected']) or 'unknown'}"
    control = f"control: {words(claim['control_verdict'])}"
    lines = [
        join([badge(claim["verdict"]), " ", tag("span", claim["scope"], class_="scope")]),
        muted(expected) if claim["verdict"] == claim["expected"] else bad(expected),
        tag("span", "✓ passed", class_="pass") if claim["passed"] else bad("✗ FAILED"),
        muted(control) if claim["control_verdict"] == "refuted" else bad(control),
    ]
    if explain.needs_explaining(claim):
        lines.append(tag("a", "explained", href="#why-" + anchor(claim["id"])))
    return join(lines, Markup("<br>"))


def verdict_row(claim):
    outcome = figures.outcome(claim)
    id = claim["id"]
    key = [id, id.replace("_", "-"), claim["source"], claim["statement"], claim["scope"], *claim["covers"]]
    cells = [
        ("Claim", join([link(claim), tag("div", claim["source"], class_="muted")])),
        ("Statement", statement_cell(claim)),
        ("Verdict", verdict_cell(claim)),
        ("Measured vs predicted", versus(decisive(claim))),
        ("Covers", tag("div", join(claim["covers"], Markup("<br>")), class_="covers")),
    ]
    return tag(
        "tr",
        *(tag("td", content, data_label=label) for label, content in cells),
        id=anchor(id),
        class_=outcome,
        data_paper=figures.paper_of(claim),
        data_outcome=outcome,
        data_key=" ".join(key).lower(),
    )


def chooser(label, name, values):
    options = [tag("option", "all", value=""), *(tag("option", words(v), value=v) for v in values)]
    return tag("label", label, " ", tag("select", *options, name=name))


def verdict_section(results, pictures):
    claims = results["claims"]
    if not claims:
        return missing(*NONE)
    outcomes = [o for o in MARKS if any(figures.outcome(c) == o for c in claims)]
    search = Markup('<label>Search <input type="search" name="words" placeholder="id, statement, source, row"></label>')
    papers = chooser("Paper", "paper", sorted({figures.paper_of(c) for c in claims}))
    count = tag("output", aria_live="polite")
    form = tag("form", search, papers, chooser("Verdict", "outcome", outcomes), count, id="filter", hidden="")
    ordered = sorted(claims, key=lambda c: (c["passed"], *by_paper(c)))
    head = ("Claim", "Statement", "Verdict", "Measured vs predicted", "Covers")
    note = (
        "Measured vs predicted shows the decisive point: the paper’s statement where it fails, else the point nearest "
        "to its tolerance; ± is one standard error. A control is the same check made wrong on purpose: it must come "
        "out refuted."
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
        if not claim["passed"]:
            reasons = [tag("p", s) for s in explain.why_failed(claim)]
            source = tag("p", f"{claim['source']}: {claim['statement']}", class_="source")
            parts.append(join([tag("h3", link(claim)), source, *reasons, drawn(claim, pictures)]))
    return tag("section", tag("h2", "Failed"), *parts, id="failed", class_="alarm") if parts else ""


def explanation(claim, pictures):
    label = "What is true instead. " if claim["verdict"] == "refuted" else "Exact form. "
    return tag(
        "article",
        tag("h3", link(claim), " ", badge(claim["verdict"])),
        tag("p", claim["source"], class_="source"),
        tag("blockquote", claim["statement"]),
        tag("p", join(explain.explain(claim), " ")),
        tag("p", tag("b", label), claim["exact"], class_="exact") if claim["exact"] else "",
        drawn(claim, pictures),
        id="why-" + anchor(claim["id"]),
    )


def explained_section(results, pictures):
    chosen = sorted(filter(explain.needs_explaining, results["claims"]), key=by_paper)
    if not results["claims"]:
        return missing(*NONE)
    if not chosen:
        return tag("p", "No claim in these files came out, as expected, as refuted or as holding in a limit only.")
    titles = {"refuted": "Refuted", "holds_asymptotically": "Conditional: true in a limit or under a condition"}
    parts = []
    for verdict, title in titles.items():
        mine = [explanation(c, pictures) for c in chosen if c["verdict"] == verdict]
        if mine:
            parts += [tag("h3", f"{title} ({len(mine)})", class_="group"), tag("div", *mine, class_="articles")]
    return join(parts)


def typo_section(results):
    if not results["claims"]:
        return missing(*NONE)
    typos = sorted((c for c in results["claims"] if c["scope"] == "typo"), key=by_paper)
    if not typos:
        return tag("p", "No claim in these files is about notation only.")
    items = [tag("li", link(c), " ", muted(c["source"]), " ", c["statement"], " → ", c["exact"]) for c in typos]
    lead = "Slips of notation, with the line that is meant. Nothing else rests on them."
    return join([tag("p", lead), tag("ul", *items)])


def out_of_reach_section(results):
    lead = (
        "Nothing is trained here. These results of the papers need training, or are not numbers, and no verdict above "
        "speaks on them:"
    )
    known = explain.TEXTS["out_of_reach"]
    items = [tag("li", tag("b", t["source"]), ": ", t["what"], "; ", t["instead"], ".") for t in known]
    untrained = [link(c) for c in results["claims"] if c["scope"] == "untrained"]
    looked = "Claims here that look at the untrained side of a trained result: "
    return join([tag("p", lead), tag("ul", *items), tag("p", looked, join(untrained, ", "), ".") if untrained else ""])
