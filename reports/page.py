# SPDX-License-Identifier: Apache-2.0
"""The report's single HTML page: everything inlined, nothing fetched."""
import base64
import html
import os

import explain
import figures
import matrix as matrices
from read import decisive, strain
from style import number, params_text, words

MOST_POINTS = 16
HERE = os.path.dirname(os.path.abspath(__file__))
MARKS = {"holds": "●", "holds_asymptotically": "◐", "refuted": "○", "inconclusive": "?", "failed": "✗"}
RUN = "recollect run --variants all --tasks all -o r.h5"
VERIFY = "recollect verify -o v.h5"


def text(value):
    return html.escape(str(value), quote=True)


def asset(name):
    with open(os.path.join(HERE, name), encoding="utf-8") as f:
        return f.read()


def anchor(id):
    return "claim-" + "".join(c if c.isalnum() else "-" for c in id)


def named(id):
    """An id that may break after each underscore."""
    return text(id).replace("_", "_<wbr>")


def badge(verdict):
    return f'<span class="badge {text(verdict)}"><span aria-hidden="true">{MARKS.get(verdict, "?")}</span> {text(words(verdict))}</span>'


def missing(what, command):
    return f'<p class="missing">{text(what)} <code>{text(command)}</code> fills this section.</p>'


def figure_html(picture):
    """A drawn figure: {name, svg, alt, caption}; the SVG as an image, so that no id of one meets those of another."""
    data = base64.b64encode(picture["svg"].encode()).decode()
    caption = f'<figcaption>{text(picture["caption"])} <span class="file">figures/{text(picture["name"])}.svg, .png</span></figcaption>'
    return f'<figure><img loading="lazy" alt="{text(picture["alt"])}" src="data:image/svg+xml;base64,{data}">{caption}</figure>'


def predicted(point):
    """The prediction as text; where it is a bound, or zero, the tolerance that goes with it."""
    relation = {"equal": "", "at_most": "≤ ", "at_least": "≥ "}[point["relation"]]
    sign = {"equal": "±", "at_most": "+", "at_least": "−"}[point["relation"]]
    slack = (
        f" {sign} {number(point['tolerance'], 2)}"
        if point["tolerance"] and (relation or not point["predicted"])
        else ""
    )
    return relation + number(point["predicted"]) + slack


def versus(point):
    """Measured against predicted, as a table cell's content."""
    error = f' <span class="muted">± {number(point["standard_error"], 2)}</span>' if point["standard_error"] else ""
    return f'<span class="num">{number(point["measured"])}{error}</span><br><span class="muted">vs</span> <span class="num">{predicted(point)}</span>'


def points_table(claim):
    ranked = sorted(claim["points"], key=strain, reverse=True)
    rows = "".join(
        f'<tr class="{text(p["verdict"])}"><td>{text(p["tier"])}</td><td>{text(params_text(p["params"]))}</td><td class="num">{number(p["measured"])}</td>'
        f'<td class="num">{predicted(p)}</td>'
        f'<td class="num">{number(p["standard_error"], 2) if p["standard_error"] else "exact"}</td>'
        f'<td class="num">{number(p["tolerance"], 2)}</td><td>{text(words(p["verdict"]))}</td></tr>'
        for p in ranked[:MOST_POINTS]
    )
    more = (
        f"<p class='muted'>{len(ranked) - MOST_POINTS} more points are in the file.</p>"
        if len(ranked) > MOST_POINTS
        else ""
    )
    head = "".join(
        f"<th scope='col'>{h}</th>"
        for h in ("tier", "at", "measured", "predicted", "std. error", "tolerance", "verdict")
    )
    return f'<div class="scroll"><table class="points"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>{more}'


def verdict_row(claim):
    outcome = figures.outcome(claim)
    point = decisive(claim)
    agree = claim["verdict"] == claim["expected"]
    expected = (
        f'<span class="muted">expected: {text(words(claim["expected"]))}</span>'
        if agree
        else f'<strong class="bad">expected: {text(words(claim["expected"]) or "unknown")}</strong>'
    )
    control = (
        f'<span class="muted">control: {text(words(claim["control_verdict"]))}</span>'
        if claim["control_verdict"] == "refuted"
        else f'<strong class="bad">control: {text(words(claim["control_verdict"]))}</strong>'
    )
    result = '<span class="pass">✓ passed</span>' if claim["passed"] else '<strong class="bad">✗ FAILED</strong>'
    scope = f' <span class="scope">{text(claim["scope"])}</span>' if claim["scope"] else ""
    exact = f'<p><b>Exact form, condition or correction.</b> {text(claim["exact"])}</p>' if claim["exact"] else ""
    failed = "".join(f'<p class="bad">{text(s)}</p>' for s in explain.why_failed(claim)) if not claim["passed"] else ""
    more = f' · <a href="#why-{anchor(claim["id"])}">explained</a>' if explain.needs_explaining(claim) else ""
    key = " ".join(
        [
            claim["id"],
            claim["id"].replace("_", "-"),
            claim["source"],
            claim["statement"],
            claim["scope"],
            *claim["covers"],
        ]
    ).lower()
    return (
        f'<tr id="{anchor(claim["id"])}" class="{text(outcome)}" data-paper="{text(figures.paper_of(claim))}" data-outcome="{text(outcome)}" data-key="{text(key)}">'
        f'<td data-label="Claim"><a class="id" href="#{anchor(claim["id"])}">{named(claim["id"])}</a><div class="muted">{text(claim["source"])}</div></td>'
        f'<td data-label="Statement">{text(claim["statement"])}{failed}<details><summary>{len(claim["points"])} points, exact form</summary>'
        f"{exact}{points_table(claim)}</details></td>"
        f'<td data-label="Verdict">{badge(claim["verdict"])}{scope}<br>{expected}<br>{result}<br>{control}{more}</td>'
        f'<td data-label="Measured vs predicted">{versus(point) if point else "nothing measured"}</td>'
        f'<td data-label="Covers" class="covers">{"<br>".join(map(text, claim["covers"])) or "–"}</td></tr>'
    )


def options(values):
    return "".join(f'<option value="{text(v)}">{text(words(v))}</option>' for v in values)


def verdict_section(results):
    claims = results["claims"]
    if not claims:
        return missing("No file holds verdicts.", VERIFY)
    outcomes = [o for o in ("failed", *MARKS) if any(figures.outcome(c) == o for c in claims)]
    papers = sorted({figures.paper_of(c) for c in claims})
    ordered = sorted(claims, key=lambda c: (c["passed"], figures.paper_of(c), c["id"]))
    head = "".join(
        f'<th scope="col">{h}</th>' for h in ("Claim", "Statement", "Verdict", "Measured vs predicted", "Covers")
    )
    return (
        f'<form id="filter" hidden><label>Search <input type="search" name="words" placeholder="id, statement, source, row"></label>'
        f'<label>Paper <select name="paper"><option value="">all</option>{options(papers)}</select></label>'
        f'<label>Verdict <select name="outcome"><option value="">all</option>{options(dict.fromkeys(outcomes))}</select></label>'
        f'<output aria-live="polite"></output></form>'
        f'<table class="verdicts"><thead><tr>{head}</tr></thead><tbody>{"".join(map(verdict_row, ordered))}</tbody></table>'
        f'<p class="muted">Measured vs predicted shows the decisive point: the paper’s statement where it fails, else the point nearest to its tolerance; ± is one '
        f"standard error. A control is the same check made wrong on purpose: it must come out refuted.</p>"
    )


def failure(claim, picture):
    reasons = "".join(f"<p>{text(s)}</p>" for s in explain.why_failed(claim))
    return (
        f'<h3><a class="id" href="#{anchor(claim["id"])}">{named(claim["id"])}</a></h3><p class="source">{text(claim["source"])}: {text(claim["statement"])}</p>{reasons}'
        + (figure_html(picture) if picture else "")
    )


def explanation(claim, picture):
    sentences = "".join(f"<p>{text(s)}</p>" for s in explain.explain(claim))
    return (
        f'<article id="why-{anchor(claim["id"])}"><h3><a href="#{anchor(claim["id"])}">{named(claim["id"])}</a> {badge(claim["verdict"])}</h3>'
        f'<p class="source">{text(claim["source"])}</p><blockquote>{text(claim["statement"])}</blockquote>{sentences}'
        + (
            f'<p class="exact"><b>{"What is true instead." if claim["verdict"] == "refuted" else "Exact form."}</b> {text(claim["exact"])}</p>'
            if claim["exact"]
            else ""
        )
        + (figure_html(picture) if picture else "")
        + "</article>"
    )


def explained_section(results, pictures):
    if not results["claims"]:
        return missing("No file holds verdicts.", VERIFY)
    chosen = [c for c in results["claims"] if explain.needs_explaining(c)]
    if not chosen:
        return "<p>No claim in these files came out as refuted or as holding in a limit only.</p>"
    parts = []
    for title, wanted in [
        ("Refuted", "refuted"),
        ("Conditional: true in a limit or under a condition", "holds_asymptotically"),
    ]:
        mine = sorted((c for c in chosen if c["verdict"] == wanted), key=lambda c: (figures.paper_of(c), c["id"]))
        if mine:
            parts.append(
                f"<h3 class='group'>{title} ({len(mine)})</h3><div class='articles'>"
                + "".join(explanation(c, pictures.get("claim_" + c["id"])) for c in mine)
                + "</div>"
            )
    return "".join(parts)


def typo_section(results):
    typos = [c for c in results["claims"] if c["scope"] == "typo"]
    if not results["claims"]:
        return missing("No file holds verdicts.", VERIFY)
    if not typos:
        return "<p>No claim in these files is about notation only.</p>"
    return (
        "<ul>"
        + "".join(
            f'<li><a class="id" href="#{anchor(c["id"])}">{named(c["id"])}</a> <span class="muted">{text(c["source"])}</span> {text(c["statement"])} '
            f'→ {text(c["exact"])}</li>'
            for c in typos
        )
        + "</ul>"
    )


def out_of_reach_section(results):
    untrained = [c for c in results["claims"] if c["scope"] == "untrained"]
    rows = "".join(
        f'<li><b>{text(t["source"])}</b>: {text(t["what"])}; {text(t["instead"])}.</li>'
        for t in explain.TEXTS["out_of_reach"]
    )
    links = ", ".join(f'<a class="id" href="#{anchor(c["id"])}">{named(c["id"])}</a>' for c in untrained)
    looked = f"<p>Claims here that look at the untrained side of a trained result: {links}.</p>" if links else ""
    return f"<p>Nothing is trained here. These results of the papers need training, or are not numbers, and no verdict above speaks on them:</p><ul>{rows}</ul>{looked}"


def matrix_section(results, pictures):
    matrix = matrices.build(results)
    if not matrix:
        return missing("No file holds runs.", RUN)
    tasks, notes = matrix["tasks"], {}
    shades = {t: matrices.shade(matrix, t) for t in tasks}
    head = "".join(
        f'<th scope="col">{text(words(t))}<br><span class="muted">{text(words(matrix["metric"][t] or "no metric"))}{matrices.arrow(matrix["metric"][t])}</span></th>'
        for t in tasks
    )
    body, family_now = [], None
    for family, variant in matrix["variants"]:
        if family != family_now:
            body.append(f'<tr class="family"><th scope="rowgroup" colspan="{len(tasks) + 1}">{text(family)}</th></tr>')
            family_now = family
        cells = []
        for task in tasks:
            cell = matrix["cell"][variant, task]
            if cell["status"] == "ok" and cell["value"] is not None:
                back, ink = matrices.colours(shades[task][variant]) if variant in shades[task] else ("#fff", "#1d2733")
                cells.append(
                    f'<td style="background:{back};color:{ink}" title="{text(variant)}, {text(task)}: mean of {cell["count"]}">{number(cell["value"], 3)}</td>'
                )
                continue
            reason = cell["reason"] or (
                "the task reports no metric" if cell["status"] == "ok" else "no reason recorded"
            )
            mine = notes.setdefault((cell["status"], task, reason), [])
            mine.append(variant)
            at = list(notes).index((cell["status"], task, reason)) + 1
            label = {"meaningless": "–", "failed": "✗ failed", "ok": "·"}.get(cell["status"], "?")
            cells.append(
                f'<td class="{text(cell["status"].replace(" ", "-"))}" title="{text(cell["status"])}: {text(reason)}">{label}<sup><a href="#note-{at}">{at}</a></sup></td>'
            )
        body.append(f'<tr><th scope="row">{text(variant)}</th>{"".join(cells)}</tr>')
    counted = matrices.counts(matrix)
    summary = f'{len(matrix["variants"])} variants × {len(tasks)} tasks = {len(matrix["cell"])} cells: ' + ", ".join(
        f"{n} {s}" for s, n in counted.items()
    )
    listed = "".join(
        f'<li id="note-{i + 1}" value="{i + 1}"><b class="{text(s.replace(" ", "-"))}">{text(s)}</b>, {text(words(task))} ({len(v)} '
        f'cell{"s" if len(v) > 1 else ""}): {text(reason)} <span class="muted">{text(", ".join(v))}</span></li>'
        for i, ((s, task, reason), v) in enumerate(notes.items())
    )
    return (
        f"<p>{summary}. Darker is better within a column (↑ more is better, ↓ less is better); each cell is the mean over its runs.</p>"
        f'<div class="scroll tall"><table class="matrix"><thead><tr><th scope="col">variant</th>{head}</tr></thead><tbody>{"".join(body)}</tbody></table></div>'
        + (f'<h3>Cells without a value</h3><ol class="notes">{listed}</ol>' if notes else "<p>No cell is empty.</p>")
        + f'<p class="muted">The same as a picture: <span class="file">figures/matrix.svg, .png</span></p>'
    )


def provenance_section(results):
    parts = []
    for file in results["files"]:
        meta = file["meta"]
        rows = "".join(f"<dt>{text(words(k))}</dt><dd>{text(v) or '–'}</dd>" for k, v in meta.items())
        parts.append(
            f'<details><summary><b>{text(file["path"])}</b> <span class="muted">{text(meta.get("command_line", ""))}</span></summary><dl>{rows}</dl></details>'
        )
    return "".join(parts)


def headline(results):
    """Where the numbers come from, one line a file; a dirty commit says so."""
    lines = []
    for file in results["files"]:
        m = file["meta"]
        dirty = ' <strong class="bad">with uncommitted changes</strong>' if m.get("git_dirty") == "true" else ""
        lines.append(
            f'<li><b>{text(os.path.basename(file["path"]))}</b>: recollect {text(m.get("version", "?"))}, commit <code>{text(m.get("git_commit", "?")[:12])}</code>{dirty}, '
            f'{text(m.get("start_utc", "?"))}, {text(m.get("execution_space", "?"))} on {text(m.get("device", "?"))}, seed {text(m.get("seed", "?"))}</li>'
        )
    return "<ul class='files'>" + "".join(lines) + "</ul>"


def cards(results):
    claims, matrix = results["claims"], matrices.build(results)
    found = []
    if claims:
        failed = sum(not c["passed"] for c in claims)
        found.append(
            (
                "bad" if failed else "good",
                f"{len(claims) - failed} / {len(claims)}",
                "claims as expected" if not failed else f"claims as expected, {failed} FAILED",
            )
        )
        for verdict in ("holds", "holds_asymptotically", "refuted", "inconclusive"):
            n = sum(c["verdict"] == verdict for c in claims)
            if n:
                found.append((verdict, n, f"{MARKS[verdict]} {words(verdict)}"))
        found.append(("", number(sum(len(c["points"]) for c in claims)), "points measured"))
        found.append(("", len({r for c in claims for r in c["covers"]}), "ledger rows covered"))
    if matrix:
        counted = matrices.counts(matrix)
        found.append(
            (
                "bad" if counted.get("failed") else "",
                f'{counted.get("ok", 0)} / {len(matrix["cell"])}',
                "variant × task cells ran" + (f', {counted["failed"]} failed' if counted.get("failed") else ""),
            )
        )
    return (
        '<div class="cards">'
        + "".join(f'<div class="card {c}"><b>{text(n)}</b><span>{text(label)}</span></div>' for c, n, label in found)
        + "</div>"
    )


def page(results, pictures, sections):
    """The whole page. pictures: name -> {svg, alt, caption}; sections: (id, title, short title, figure names, sentence and command if none)."""
    failed = [c for c in results["claims"] if not c["passed"]]
    alarm = (
        f"<section id='failed' class='alarm'><h2>Failed</h2>{''.join(failure(c, pictures.get('claim_' + c['id'])) for c in failed)}</section>"
        if failed
        else ""
    )
    blocks = [
        (
            "verdicts",
            "Verdicts",
            "Verdicts",
            (figure_html(pictures["verdicts_by_paper"]) if "verdicts_by_paper" in pictures else "")
            + verdict_section(results),
        ),
        ("explained", "Refuted and conditional claims", "Refuted", explained_section(results, pictures)),
    ]
    for id, title, short, names, what, command in sections:
        drawn = "".join(figure_html(pictures[n]) for n in names if n in pictures)
        blocks.append((id, title, short, drawn or missing(what, command)))
    blocks += [
        ("matrix", "Variants × tasks", "Matrix", matrix_section(results, pictures)),
        ("typos", "Notation only", "Notation", typo_section(results)),
        ("out-of-reach", "Out of reach without training", "Out of reach", out_of_reach_section(results)),
        ("provenance", "Provenance", "Provenance", provenance_section(results)),
    ]
    nav = "".join(f'<a href="#{id}">{text(short)}</a>' for id, _, short, _ in blocks)
    body = "".join(f'<section id="{id}"><h2>{text(title)}</h2>{content}</section>' for id, title, _, content in blocks)
    policy = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta name="generator" content="recollect report"><meta http-equiv="Content-Security-Policy" content="{policy}">'
        f'<title>recollect: theory against measurement</title><style>{asset("page.css")}</style></head><body><header><h1>recollect</h1>'
        f'<p class="lede">Sequence-memory layers, associative tasks, and every claim of four papers held against measurement.</p>{headline(results)}</header>'
        f'<nav aria-label="Sections">{nav}</nav><main>{cards(results)}{alarm}{body}</main><script>{asset("page.js")}</script></body></html>\n'
    )
