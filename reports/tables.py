# SPDX-License-Identifier: Apache-2.0
"""The report as one Markdown file, or as CSV tables."""
import csv
import os

import cells as cells_
import findings
from filters import predicted
from findings import FOUND, outcome
from style import number, params_text, words


def cell(text):
    return str(text).replace("|", "\\|").replace("\n", " ")


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return lines + ["| " + " | ".join(map(cell, row)) + " |" for row in rows]


def markdown(results):
    lines = ["# recollect: theory against measurement", ""]
    claims = sorted(results["claims"], key=lambda c: (outcome(c) != "failed", c["id"]))
    if claims:
        lines += [", ".join(f"{n} {FOUND[o][n != 1]}" for o, n in findings.counts(claims).items()) + ".", ""]
        rows = []
        for c in claims:
            p = findings.decisive(c)
            value = f"{number(p['measured'])} against {predicted(p)}" if p else "–"
            rows.append((c["id"], c["source"], words(c["verdict"]), "FAILED" if outcome(c) == "failed" else "", value))
        lines += table(("claim", "source", "verdict", "", "measured"), rows) + [""]
    if results["cells"]:
        rows = [
            (c["task"], c["variant"], c["experiment"], words(c["headline"] or ""), number(c["mean"], 3) if c["status"] == "ok" else c["status"],
             number(c["error"], 2) if c["error"] == c["error"] else "–", c["count"], number(c["chance"], 2), cells_.tuning(c))
            for c in results["cells"]
        ]  # fmt: skip
        lines += table(("task", "layer", "experiment", "headline", "mean", "s.e.", "seeds", "chance", "free"), rows)
    return "\n".join(lines) + "\n"


def csv_tables(results):
    """{file name: (columns, rows)}"""
    keep = ("id", "source", "verdict", "expected", "scope", "reason", "condition", "system", "statement", "exact", "explanation", "paragraph", "conditions", "next", "answer")
    points = ("role", "rival", "label", "measured", "predicted", "standard_error", "tolerance", "relation", "verdict")
    return {
        "claims.csv": ([*keep, "passed", "variants"], [[*(c[k] for k in keep), int(c["passed"]), " ".join(c["variants"])] for c in results["claims"]]),
        "points.csv": (["claim", *points, "parameters"], [[c["id"], *(p[k] for k in points), params_text(p["params"])] for c in results["claims"] for p in c["points"] + c["rivals"]]),
        "cells.csv": (
            ["experiment", "task", "variant", "family", "form", "setting", "free", "parameters", "status", "metric", "mean", "standard_error", "seeds", "chance", "ceiling", "state_bytes", "flops"],
            [[c["experiment"], c["task"], c["variant"], c["family"], c["form"], c["setting"], cells_.tuning(c), params_text(cells_.settings(c)), c["status"], name, mean, error, len(values),
              c["chance"] if name == c["headline"] else "", c["ceiling"] if name == c["headline"] else "", c["state_bytes"], c["flops"]]
             for c in results["cells"] for name, (mean, error, values) in (c["metrics"] or {"": ("", "", [])}).items()],
        ),
    }  # fmt: skip


def write(results, folder, as_markdown, as_csv):
    if as_markdown:
        with open(os.path.join(folder, "report.md"), "w", encoding="utf-8") as f:
            f.write(markdown(results))
    for name, (columns, rows) in csv_tables(results).items() if as_csv else ():
        with open(os.path.join(folder, name), "w", encoding="utf-8", newline="") as f:
            csv.writer(f).writerows([columns, *rows])
