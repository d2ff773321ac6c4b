# SPDX-License-Identifier: Apache-2.0
"""The report as one Markdown file, or as CSV tables."""
import csv
import html
import io

import cells as cells_
import findings
import speed_figures
import style
from filters import predicted
from findings import FOUND, outcome
from style import number, params_text, words


def cell(text):
    """A cell's text: raw HTML in it is shown, not rendered."""
    return html.escape(str(text), quote=False).replace("|", "\\|").replace("\n", " ")


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return lines + ["| " + " | ".join(map(cell, row)) + " |" for row in rows]


def claims_table(claims):
    rows = []
    for c in sorted(claims, key=lambda c: (outcome(c) != "failed", c["id"])):
        p = findings.decisive(c)
        value = f"{number(p['measured'])} against {predicted(p)}" if p else "–"
        rows.append((c["id"], c["source"], findings.verdict_text(c), "FAILED" if outcome(c) == "failed" else "", value))
    return table(("claim", "source", "verdict", "", "measured"), rows)


def cells_table(cells):
    rows = [
        (
            c["task"],
            c["variant"],
            c["experiment"],
            words(c["headline"] or ""),
            number(c["mean"], 3) if c["status"] == "ok" else c["status"],
            number(c["error"], 2) if c["error"] == c["error"] else "–",
            c["count"],
            number(c["chance"], 2),
            params_text(c["told"]),
            cells_.tuning(c),
        )
        for c in cells
    ]
    return table(
        ("task", "layer", "experiment", "headline", "mean", "s.e.", "seeds", "chance", "settings", "tuning"), rows
    )


def bench_table(results):
    rows = [
        (b["name"], b["source"], *(number(1e3 * b[n], 4) for n in ("median_seconds", "low_seconds", "high_seconds")))
        if b["status"] == "ok"
        else (b["name"], b["source"], f"{b['status']}: {b['reason']}", "", "")
        for b in results["bench"]
    ]
    machine = speed_figures.machines(results)
    marked = [(*row, machine[b["file"]]) for row, b in zip(rows, results["bench"])]
    return table(("case", "by", "median, ms", "from", "to", "file"), marked)


def markdown(results):
    lines = ["# recollect: theory against measurement", ""]
    if results["claims"]:
        lines += [", ".join(f"{n} {FOUND[o][n != 1]}" for o, n in findings.counts(results["claims"]).items()) + ".", ""]
        lines += claims_table(results["claims"]) + [""]
    if results["cells"]:
        untuned = any(c["setting"] == "untuned" for c in results["cells"])
        lines += [f"## Layers on tasks{', untuned' if untuned else ''}", ""] + cells_table(results["cells"]) + [""]
    if results["bench"]:
        lines += ["## Speed", ""] + bench_table(results)
    return "\n".join(lines) + "\n"


def parameters_of(cell):
    """{"task.n": 16, "layer.beta": 0.2}: what a cell ran with, tuned values among it; automatic where a layer decides."""
    found = {}
    for owner, mine in cells_.ran_with(cell).items():
        of = "task" if owner == cell["task"] else "layer"
        found.update({f"{of}.{name}": "automatic" if value != value else value for name, value in mine.items()})
    return found


def cells_csv(cells):
    """(columns, rows): a row a cell and metric, a column a parameter."""
    ran = [parameters_of(c) for c in cells]
    names = sorted({name for mine in ran for name in mine})
    fixed = ("experiment", "task", "variant", "family", "form", "real", "setting")
    columns = [
        *fixed,
        "chosen",
        "status",
        "reason",
        "metric",
        "mean",
        "standard_error",
        "seeds",
        "chance",
        "ceiling",
        "state_bytes",
        "flops",
        *names,
    ]
    rows = []
    for c, mine in zip(cells, ran):
        for metric, (mean, error, values) in (c["metrics"] or {"": ("", "", [])}).items():
            ends = (c["chance"], c["ceiling"]) if metric == c["headline"] else ("", "")
            chosen = " ".join(name for _, name in c["chosen"])
            rows.append(
                [
                    *(c[k] for k in fixed),
                    chosen,
                    c["status"],
                    c["reason"],
                    metric,
                    mean,
                    error,
                    len(values),
                    *ends,
                    c["state_bytes"],
                    c["flops"],
                    *(mine.get(name, "") for name in names),
                ]
            )
    return columns, rows


def bench_csv(results):
    """(columns, rows): a row a timed case, those that were not timed among them."""
    columns = ("source", "name", "variant", "form", "B", "H", "T", "Dk", "Dv", "real", "pass", "math", "schedule", "without", "chunk",
               "status", "reason", "median_seconds", "low_seconds", "high_seconds", "samples")  # fmt: skip
    metas = [file["meta"] for file in results["files"]]
    told = [metas[b["file"]] for b in results["bench"]]
    rows = [[m.get("device", ""), m.get("git_commit", ""), *(b.get(c, "") for c in columns)] for b, m in zip(results["bench"], told)]
    return ["device", "commit", *columns], rows


def csv_tables(results):
    """{file name: (columns, rows)}"""
    keep = ("id", "source", "verdict", "expected", "scope", "reason", "condition", "system", "statement", "exact", "explanation", "paragraph", "conditions", "next", "answer")
    points = ("role", "rival", "label", "measured", "predicted", "standard_error", "tolerance", "relation", "verdict")
    return {
        "claims.csv": (
            ["outcome", *keep, "passed", "variants"],
            [[outcome(c), *(style.plain(c[k]) for k in keep), int(c["passed"]), " ".join(c["variants"])] for c in results["claims"]],
        ),
        "points.csv": (
            ["claim", *points, "parameters"],
            [
                [c["id"], *(p[k] for k in points), params_text(p["params"])]
                for c in results["claims"]
                for p in c["points"] + c["rivals"]
            ],
        ),
        "cells.csv": cells_csv(results["cells"]),
        "bench.csv": bench_csv(results),
    }


def csv_text(columns, rows):
    """Text cells that a spreadsheet would take for a formula, or a terminal for a command, are made plain."""
    out = io.StringIO()
    csv.writer(out).writerows([columns, *([plain(value) for value in row] for row in rows)])
    return out.getvalue()


def plain(value):
    if not isinstance(value, str):
        return value
    text = "".join(c if c.isprintable() else " " for c in value)
    return "'" + text if text.lstrip().startswith(("=", "+", "-", "@")) and not is_number(text) else text


def is_number(text):
    try:
        float(text)
    except ValueError:
        return False
    return True


def texts(results, as_markdown, as_csv):
    """{file name: contents}"""
    found = {"report.md": markdown(results)} if as_markdown else {}
    if as_csv:
        found.update({name: csv_text(*table) for name, table in csv_tables(results).items()})
    return found
