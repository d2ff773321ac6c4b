# SPDX-License-Identifier: Apache-2.0
"""The report's single HTML page: everything inlined, nothing fetched."""
import os

import matrix as matrices
import verdicts
from findings import FOUND, counts, outcome
from markup import MARKS, Markup, bad, figure, join, missing, muted, tag
from style import INK, number, words

HERE = os.path.dirname(os.path.abspath(__file__))
POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
HEAD = f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="recollect report"><meta http-equiv="Content-Security-Policy" content="{POLICY}">
<title>recollect: theory against measurement</title>
"""


def asset(name):
    with open(os.path.join(HERE, name), encoding="utf-8") as f:
        return Markup(f.read())


class Notes:
    """The reasons of the cells without a value, numbered in the order they are met."""

    def __init__(self):
        self.cells = {}  # (status, task, reason) -> variants

    def mark(self, cell, variant, task):
        """The cell's mark and the number of its note."""
        reason = cell["reason"] or ("the task reports no metric" if cell["status"] == "ok" else "no reason recorded")
        key = (cell["status"], task, reason)
        self.cells.setdefault(key, []).append(variant)
        at = list(self.cells).index(key) + 1
        mark = {"meaningless": "–", "failed": "✗ failed", "ok": "·"}.get(cell["status"], "?")
        note = tag("sup", tag("a", at, href=f"#note-{at}"))
        return tag("td", mark, note, class_=cell["status"].replace(" ", "-"), title=f"{cell['status']}: {reason}")

    def listed(self):
        items = []
        for at, ((status, task, reason), variants) in enumerate(self.cells.items(), 1):
            cells = f", {words(task)} ({len(variants)} cell{'s' if len(variants) > 1 else ''}): {reason} "
            head = tag("b", status, class_=status.replace(" ", "-"))
            items.append(tag("li", head, cells, muted(", ".join(variants)), id=f"note-{at}", value=at))
        if not items:
            return tag("p", "No cell is empty.")
        return join([tag("h3", "Cells without a value"), tag("ol", *items, class_="notes")])


def matrix_section(results):
    matrix = matrices.build(results)
    if not matrix:
        return missing("No file holds runs.", "recollect run --variants all --tasks all -o r.h5")
    tasks, notes = matrix["tasks"], Notes()
    shades = {t: matrices.shade(matrix, t) for t in tasks}

    def cell_of(variant, task):
        cell = matrix["cell"][variant, task]
        if cell["status"] != "ok" or cell["value"] is None:
            return notes.mark(cell, variant, task)
        shade = shades[task].get(variant)
        back, ink = ("#fff", INK) if shade is None else matrices.colours(shade)
        hint = f"{variant}, {task}: mean of {cell['count']}"
        return tag("td", number(cell["value"], 3), style=f"background:{back};color:{ink}", title=hint)

    def heading(task):
        metric = matrix["metric"][task]
        shown = muted(words(metric or "no metric"), matrices.arrow(matrix, task))
        return tag("th", words(task), Markup("<br>"), shown, scope="col")

    body, family_now = [], None
    for family, variant in matrix["variants"]:
        if family != family_now:
            body.append(tag("tr", tag("th", family, scope="rowgroup", colspan=len(tasks) + 1), class_="family"))
            family_now = family
        body.append(tag("tr", tag("th", variant, scope="row"), *(cell_of(variant, t) for t in tasks)))
    head = tag("thead", tag("tr", tag("th", "variant", scope="col"), *map(heading, tasks)))
    counted = ", ".join(f"{count} {status}" for status, count in matrices.counts(matrix).items())
    size = f"{len(matrix['variants'])} variants × {len(tasks)} tasks = {len(matrix['cell'])} cells: {counted}."
    lead = " Darker is better within a column (↑ more, ↓ less is better); each cell is the mean over its runs."
    shown = tag("div", tag("table", head, tag("tbody", *body), class_="matrix"), class_="scroll tall")
    files = tag("span", "figures/matrix.svg, .png", class_="file")
    picture = tag("p", "The same as a picture: ", files, class_="muted")
    return join([tag("p", size, lead), shown, notes.listed(), picture])


def provenance_section(results):
    """Everything that each file says of itself."""
    parts = []
    for file in results["files"]:
        facts = [join([tag("dt", words(name)), tag("dd", value or "–")]) for name, value in file["meta"].items()]
        summary = tag("summary", tag("b", file["path"]), " ", muted(file["meta"].get("command_line", "")))
        parts.append(tag("details", summary, tag("dl", *facts)))
    return join(parts)


def origin(file):
    """Where a file's numbers come from, in one line; a dirty commit says so."""
    m = file["meta"]
    dirty = join([" ", bad("with uncommitted changes")]) if m.get("git_dirty") == "true" else ""
    version = f": recollect {m.get('version', '?')}, commit "
    device = f"{m.get('execution_space', '?')} on {m.get('device', '?')}"
    where = f", {m.get('start_utc', '?')}, {device}, seed {m.get('seed', '?')}"
    name = tag("b", os.path.basename(file["path"]))
    return tag("li", name, version, tag("code", m.get("git_commit", "?")[:12]), dirty, where)


def card(kind, value, label):
    return tag("div", tag("b", value), tag("span", label), class_="card " + kind)


def tally(claims, key):
    """ "4 needs training, 2 not numeric": how many claims have each value of a field, the most frequent first."""
    values = [c[key] for c in claims if c[key]]
    ranked = sorted(set(values), key=lambda v: (-values.count(v), v))
    return ", ".join(f"{values.count(v)} {words(v)}" for v in ranked)


def cards(results):
    """What was found, by scope, is what a reader wants first; then whether all came out as expected."""
    claims, matrix, found = results["claims"], matrices.build(results), []
    for name, count in counts(claims).items():
        label = FOUND[name][count != 1]
        if name == "not_tested":
            label += f" ({tally([c for c in claims if c['reason']], 'reason')})"
        found.append(card("bad" if name == "failed" else name, count, f"{MARKS[name]} {label}"))
    if claims:
        tested = [c for c in claims if not c["reason"]]
        passed = sum(outcome(c) != "failed" for c in tested)
        systems = tally(tested, "system")
        label = "tested claims as expected" + (f": {systems}" if systems else "")
        found.append(card("good" if passed == len(tested) else "bad", f"{passed} / {len(tested)}", label))
        points, rivals = (number(sum(len(c[key]) for c in claims)) for key in ("points", "rivals"))
        found.append(card("", points, f"points measured, {rivals} rivals told apart"))
        found.append(card("", len({row for c in claims for row in c["covers"]}), "ledger rows covered"))
    if matrix:
        counted = matrices.counts(matrix)
        failed = counted.get("failed", 0)
        label = "variant × task cells ran" + (f", {failed} failed" if failed else "")
        found.append(card("bad" if failed else "", f"{counted.get('ok', 0)} / {len(matrix['cell'])}", label))
    return tag("div", *found, class_="cards")


def page(results, pictures, sections):
    """The whole page. pictures: name -> {name, svg, alt, caption}; sections: those of draw.SECTIONS."""
    blocks = [
        ("verdicts", "Verdicts", "Verdicts", verdicts.verdict_section(results, pictures)),
        ("explained", "Refuted, and true in a limit only", "Refuted", verdicts.explained_section(results, pictures)),
    ]
    for id, title, short, names, what, command in sections:
        drawn = join(figure(pictures[n]) for n in names if n in pictures)
        blocks.append((id, title, short, drawn or missing(what, command)))
    blocks += [
        ("matrix", "Variants × tasks", "Matrix", matrix_section(results)),
        ("typos", "Notation only", "Notation", verdicts.typo_section(results)),
        ("not-tested", "Not tested", "Not tested", verdicts.untested_section(results)),
        ("provenance", "Provenance", "Provenance", provenance_section(results)),
    ]
    lede = (
        "Sequence-memory layers, associative tasks, and every claim of four papers held against measurement. "
        "Statements are paraphrases, not quotations."
    )
    origins = tag("ul", *map(origin, results["files"]), class_="files")
    header = tag("header", tag("h1", "recollect"), tag("p", lede, class_="lede"), origins)
    nav = tag("nav", *(tag("a", short, href="#" + id) for id, _, short, _ in blocks), aria_label="Sections")
    body = [tag("section", tag("h2", title), content, id=id) for id, title, _, content in blocks]
    main = tag("main", cards(results), verdicts.failed_section(results, pictures), *body)
    style, script = tag("style", asset("page.css")), tag("script", asset("page.js"))
    return join([Markup(HEAD), style, Markup("</head>"), tag("body", header, nav, main, script), Markup("</html>\n")])
