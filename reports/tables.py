# SPDX-License-Identifier: Apache-2.0
"""The report as one Markdown file, or as CSV tables."""
from __future__ import annotations

import csv
import html
import io
from typing import Any, Iterable, Sequence

from recollect.schema import Value
from reports import cells as cells_, findings
from reports.figures import speed as speed_figures, style
from reports.figures.style import number, params_text, words
from reports.findings import FOUND, outcome
from reports.records import BenchRow, Cell, Claim, Results, Summary
from reports.site.filters import predicted

Table = tuple[list[str], list[list[Any]]]  # columns, rows


def cell(text: object) -> str:
    """The text of a cell in Markdown. HTML in it is displayed as text."""
    return html.escape(str(text), quote=False).replace("|", "\\|").replace("\n", " ")


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return lines + ["| " + " | ".join(map(cell, row)) + " |" for row in rows]


def claims_table(claims: list[Claim]) -> list[str]:
    rows = []
    for c in sorted(claims, key=lambda c: (outcome(c) != "failed", c.id)):
        p = findings.decisive(c)
        value = f"{number(p.measured)} against {predicted(p)}" if p else "–"
        verdict = style.plain(findings.verdict_text(c))
        rows.append((c.id, c.source, verdict, "FAILED" if outcome(c) == "failed" else "", value))
    return table(("claim", "source", "verdict", "", "measured"), rows)


def cells_table(cells: list[Cell]) -> list[str]:
    rows = [
        (
            c.task,
            c.variant,
            c.experiment,
            words(c.headline or ""),
            number(c.mean, 3) if c.status == "ok" else c.status,
            number(c.error, 2) if c.error == c.error else "–",
            c.count,
            number(c.chance, 2),
            params_text(c.told),
            cells_.tuning(c),
        )
        for c in cells
    ]
    return table(
        ("task", "layer", "experiment", "headline", "mean", "s.e.", "seeds", "chance", "settings", "tuning"), rows
    )


def bench_table(results: Results) -> list[str]:
    rows = [
        (b.name, b.source, *(number(1e3 * x, 4) for x in (b.median_seconds, b.low_seconds, b.high_seconds)))
        if b.status == "ok"
        else (b.name, b.source, f"{b.status}: {b.reason}", "", "")
        for b in results.bench
    ]
    machine = speed_figures.machines(results)
    marked = [(*row, machine[b.file]) for row, b in zip(rows, results.bench)]
    return table(("case", "by", "median, ms", "from", "to", "file"), marked)


def markdown(results: Results) -> str:
    lines = ["# recollect: theory against measurement", ""]
    if results.claims:
        lines += [", ".join(f"{n} {FOUND[o][n != 1]}" for o, n in findings.counts(results.claims).items()) + ".", ""]
        lines += claims_table(results.claims) + [""]
    if results.cells:
        untuned = any(c.setting == "untuned" for c in results.cells)
        lines += [f"## Layers on tasks{', untuned' if untuned else ''}", ""] + cells_table(results.cells) + [""]
    if results.bench:
        lines += ["## Speed", ""] + bench_table(results)
    return "\n".join(lines) + "\n"


def parameters_of(cell: Cell) -> dict[str, Value]:
    """The parameters of a cell with tuned values, such as {"task.n": 16, "layer.beta": 0.2}. The value is "automatic"
    if the layer decides."""
    found: dict[str, Value] = {}
    for owner, mine in cells_.ran_with(cell).items():
        of = "task" if owner == cell.task else "layer"
        found.update({f"{of}.{name}": "automatic" if value != value else value for name, value in mine.items()})
    return found


def cells_csv(cells: list[Cell]) -> Table:
    """(columns, rows). There is a row for each cell and metric, and a column for each parameter."""
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
        metrics: dict[str, Summary | None] = {**c.metrics} or {"": None}
        for metric, of in metrics.items():
            ends = (c.chance, c.ceiling) if metric == c.headline else ("", "")
            chosen = " ".join(name for _, name in c.chosen)
            rows.append(
                [
                    *(getattr(c, k) for k in fixed),
                    chosen,
                    c.status,
                    c.reason,
                    metric,
                    *((of.mean, of.error, len(of.values)) if of else ("", "", 0)),
                    *ends,
                    c.state_bytes,
                    c.flops,
                    *(mine.get(name, "") for name in names),
                ]
            )
    return columns, rows


def column_of(b: BenchRow, name: str) -> Any:
    return getattr(b, {"pass": "pass_"}.get(name, name))


def bench_csv(results: Results) -> Table:
    """(columns, rows). There is a row for each case, including cases that were not timed."""
    columns = (
        "source",
        "name",
        "variant",
        "form",
        "B",
        "H",
        "T",
        "Dk",
        "Dv",
        "real",
        "pass",
        "math",
        "schedule",
        "without",
        "chunk",
        "status",
        "reason",
        "median_seconds",
        "low_seconds",
        "high_seconds",
        "samples",
    )
    metas = [file.meta for file in results.files]
    told = [metas[b.file] for b in results.bench]
    rows = [
        [m.get("device", ""), m.get("git_commit", ""), *(column_of(b, c) for c in columns)]
        for b, m in zip(results.bench, told)
    ]
    return ["device", "commit", *columns], rows


def csv_tables(results: Results) -> dict[str, Table]:
    """{name of a file: (columns, rows)}."""
    keep = ("id", "source", "verdict", "expected", "scope", "reason", "condition", "system", "statement", "exact",
            "explanation", "paragraph", "conditions", "next", "answer")  # fmt: skip
    numbers = ("measured", "predicted", "standard_error", "tolerance", "relation", "verdict")
    return {
        "claims.csv": (
            ["outcome", *keep, "passed", "variants"],
            [
                [outcome(c), *(style.plain(getattr(c, k)) for k in keep), int(c.passed), " ".join(c.variants)]
                for c in results.claims
            ],
        ),
        "points.csv": (
            ["claim", "role", "rival", "label", *numbers, "parameters"],
            [
                [c.id, p.role, p.rival, style.plain(p.label), *(getattr(p, k) for k in numbers), params_text(p.params)]
                for c in results.claims
                for p in c.points + c.rivals
            ],
        ),
        "cells.csv": cells_csv(results.cells),
        "bench.csv": bench_csv(results),
    }


def csv_text(columns: Sequence[str], rows: list[list[Any]]) -> str:
    """The table as CSV. Text that a spreadsheet would read as a formula, or a terminal as a command, is made
    harmless."""
    out = io.StringIO()
    csv.writer(out).writerows([columns, *([plain(value) for value in row] for row in rows)])
    return out.getvalue()


def plain(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    text = "".join(c if c.isprintable() else " " for c in value)
    return "'" + text if text.lstrip().startswith(("=", "+", "-", "@")) and not is_number(text) else text


def is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def texts(results: Results, as_markdown: bool, as_csv: bool) -> dict[str, str]:
    """{name of a file: contents}."""
    found = {"report.md": markdown(results)} if as_markdown else {}
    if as_csv:
        found.update({name: csv_text(*table) for name, table in csv_tables(results).items()})
    return found
