# SPDX-License-Identifier: Apache-2.0
"""A reader of result files that shares no code with the report; tests compare pages and tables with it."""
import html.parser
import math
import re
import statistics

import h5py

SUPERSCRIPTS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


def tables(path):
    """{table: rows as dictionaries}, texts decoded."""

    def text(x):
        return x.decode() if isinstance(x, bytes) else x

    with h5py.File(path, "r") as file:
        found = {name: file[name][()] for name in file if isinstance(file[name], h5py.Dataset)}
    return {
        name: [
            {c: text(row[c].item() if hasattr(row[c], "item") else row[c]) for c in rows.dtype.names} for row in rows
        ]
        for name, rows in found.items()
    }


class Cell:
    """Cases that differ only in their seed."""

    def __init__(self, plan, cases, params, chosen):
        self.plan, self.params, self.chosen = plan, params, chosen
        statuses = [c["status"] for c in cases]
        self.status = next(s for s in ("failed", "not run", "skipped", "meaningless", "ok") if s in statuses)
        self.seeds = len(cases)
        good = cases if self.status == "ok" else []
        self.metrics = {}
        for c in good:
            for name, value in c["metrics"].items():
                self.metrics.setdefault(name, []).append(value)
        self.state_bytes, self.flops = cases[statuses.index(self.status)]["size"]

    def mean(self, metric=None):
        values = self.metrics.get(metric or self.plan["headline"], [])
        return sum(values) / len(values) if values else math.nan

    def error(self, metric=None):
        values = self.metrics.get(metric or self.plan["headline"], [])
        return statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else math.nan

    @property
    def key(self):
        return (self.plan.get("experiment", ""), self.plan["task"], self.plan["variant"])


def cells(found):
    params, chosen, metrics, records = {}, {}, {}, {}
    for row in found.get("parameters", []):
        params.setdefault(row["case"], {})[row["owner"], row["name"]] = row["text"] or row["value"]
    for row in found.get("choices", []):
        chosen.setdefault(row["case"], {})[row["owner"], row["name"]] = row["value"]
    for row in found.get("metrics", []):
        metrics.setdefault(row["case"], {})[row["metric"]] = row["value"]
    for row in found.get("records", []):
        records[row["case"]] = row
    groups = {}
    for row in found.get("plan", []):
        case = row["case"]
        if row.get("setting") == "trial":
            continue
        record = records.get(case, {"status": "not run"})
        mine, free = params.get(case, {}), chosen.get(case, {})
        fixed = tuple(sorted((k, str(v)) for k, v in mine.items() if k not in free and v == v))
        key = (row.get("experiment", ""), row["task"], row["variant"], row["form"], row["real"], row["chunk"], fixed)
        size = (record.get("state_bytes", math.nan), record.get("flops", math.nan))
        one = dict(status=record["status"], metrics=metrics.get(case, {}), size=size)
        groups.setdefault(key, (row, [], mine, {}))[1].append(one)
        groups[key][3].update(free)
    return [Cell(*group) for group in groups.values()]


def gap(p):
    """Difference of measured and predicted at a point, in tolerances."""
    apart = abs(p["measured"] - p["predicted"])
    return apart / p["tolerance"] if p["tolerance"] > 0 else math.inf if apart else 0.0


class Claim:
    """A claim with its points, from /claim_texts and /claims; its last finding counts."""

    def __init__(self, row, points):
        self.id, self.verdict, self.expected, self.passed = (
            row["claim"],
            row["verdict"],
            row["expected"],
            bool(row["passed"]),
        )
        self.scope, self.reason, self.source = row.get("scope", ""), row.get("reason", ""), row.get("source", "")
        self.points = [p for p in points if p["role"] != "rival"]
        self.rivals = [p for p in points if p["role"] == "rival"]

    @property
    def outcome(self):
        if self.verdict == "not_tested":
            return "not_tested"
        if not self.passed:
            return "failed"
        return {"paper": "refuted", "": self.verdict}.get(self.scope, self.scope)

    def told(self):
        """The point that represents a claim: the paper's statement, a refuted one first; else the point that is nearest to
        failing."""

        def strain(p):
            return p["role"] == "statement", p["verdict"] != "holds", gap(p)

        return max(self.points, key=strain, default=None)


def claims(found):
    rows, points = found.get("claim_texts", []), {}
    for p in found.get("claims", []):
        if "role" not in p:  # version 1
            p["role"] = "rival" if p["is_control"] else {"paper": "statement"}.get(p["tier"], "obligation")
        points.setdefault(p.get("finding", p["claim"]), []).append(p)
    made = []
    for row in rows:
        mine = points.get(row.get("finding", row["claim"]), [])
        if "verdict" not in row:
            row = dict(row, verdict=mine[0]["claim_verdict"], expected=mine[0]["expected"], passed=mine[0]["passed"])
        made.append(Claim(row, mine))
    return made


def parsed(text):
    """A number as people are shown it: "−1.5×10⁻⁷", "1 024"; NaN where it is none."""
    text = re.sub(r"(?<=\d)\s(?=\d)", "", text.replace("−", "-").strip())
    if text in ("∞", "-∞"):
        return math.inf if text == "∞" else -math.inf
    match = re.fullmatch(r"(-?[\d.]+(?:e[+-]?\d+)?)(?:×10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+))?", text)
    if not match:
        return math.nan
    return float(match[1] + ("e" + match[2].translate(SUPERSCRIPTS) if match[2] else ""))


def shows(text, value, digits=4):
    """Whether the text shows this number to so many significant digits; for a missing number "–" or nothing."""
    if value != value:
        return text.strip() in ("–", "", "nan", "not a number")
    found = parsed(text)
    if found == value:
        return True
    unit = 10.0 ** (math.floor(math.log10(abs(value))) + 1 - digits) if value else 0.0
    return abs(found - value) <= 0.5001 * unit


class Tables(html.parser.HTMLParser):
    """Every table of a page: rows of cells, each its text, and its attributes."""

    def __init__(self, source):
        super().__init__()
        self.tables, self.cell, self.formula = [], None, 0
        self.feed(source)

    def handle_starttag(self, tag, attributes):
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.cell = ["", dict(attributes)]
            self.tables[-1][-1].append(self.cell)
        elif tag == "br" and self.cell:
            self.cell[0] += " "
        self.formula += self.formula > 0 and tag == "span"
        if "data-plain" in dict(attributes):  # a formula is read as its plain notation
            self.formula = 1
            self.handle_plain(dict(attributes)["data-plain"])

    def handle_endtag(self, tag):
        if tag in ("td", "th"):
            self.cell = None
        self.formula -= self.formula > 0 and tag == "span"

    def handle_data(self, data):
        if not self.formula:
            self.handle_plain(data)

    def handle_plain(self, data):
        if self.cell:
            self.cell[0] += data


def page_tables(source):
    """[(heads, rows, attributes)] of a page: the texts of every row, and the attributes of its cells."""
    found = []
    for head, *rows in Tables(source).tables:
        texts = [[" ".join(text.split()) for text, _ in row] for row in rows]
        found.append(([" ".join(text.split()) for text, _ in head], texts, [[a for _, a in row] for row in rows]))
    return found
