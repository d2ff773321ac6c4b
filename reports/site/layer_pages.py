# SPDX-License-Identifier: Apache-2.0
"""The page of the matrix of layers and tasks, and a page for each layer."""
from __future__ import annotations

import math
from dataclasses import replace
from typing import Iterator

from markupsafe import Markup, escape

from recollect.schema import Value
from reports import cells as cells_, matrix as matrices
from reports.figures import speed as speed_figures
from reports.figures.style import number, params_text
from reports.records import Cell, Matrix
from reports.site.catalogue import Entry
from reports.site.frame import Site

Notes = dict[tuple[str, str, str], list[str]]  # (status, task, reason) -> layers
NO_METRIC = Cell("", "", "", "ok", "", "no metric", 0, 0, math.nan, math.nan, {})  # for a task on which nothing ran


def pages(site: Site) -> Iterator[tuple[str, str]]:
    yield "layers.html", layers_page(site)
    for name in sorted(site.families):
        yield f"layers/{name}.html", layer_page(site, name)


def layers_page(site: Site) -> str:
    if not site.matrix:
        return site.render("layers.html", "layers.html", matrix=None, catalogue_layers=list(site.layers.values()),
                           notes=[], pictures=[])  # fmt: skip
    m = site.matrix
    notes: Notes = {}
    shades = {t: matrices.shade(m, t) for t in m.tasks}
    rows = [dict(variant=v, family=f, cells=[matrix_cell(m, v, t, shades[t], notes) for t in m.tasks])
            for f, v in m.variants]  # fmt: skip
    heads = []
    for t in m.tasks:
        some = next(iter(matrices.good(m.cell[v, t] for _, v in m.variants)), NO_METRIC)
        heads.append(dict(task=t, headline=some.headline, arrow={1: " ↑", -1: " ↓", 0: ""}[some.direction],
                          ends=math.isfinite(some.chance), chance=some.chance, ceiling=some.ceiling))  # fmt: skip
    return site.render(
        "layers.html",
        "layers.html",
        matrix=m,
        rows=rows,
        heads=heads,
        notes=[dict(status=s, task=t, reason=r, variants=v) for (s, t, r), v in notes.items()],
        status_counts=matrices.counts(m),
        catalogue_layers=list(site.layers.values()),
        pictures=site.figures("layers"),
    )


def matrix_cell(matrix: Matrix, variant: str, task: str, shades: dict[str, float], notes: Notes) -> Entry:
    cell = matrix.cell[variant, task]
    if isinstance(cell, Cell) and cell.status == "ok" and math.isfinite(cell.mean):
        back, ink = matrices.colours(shades[variant]) if variant in shades else ("transparent", "inherit")
        hint = f"{variant}, {task}: {cell.count} seeds; {cells_.tuning(cell) or 'settings unknown'}"
        same = matrix.same[task].get(variant, "")
        return dict(value=cell.mean, error=cell.error, back=back, ink=ink, hint=hint, same=same)
    reason = cell.reason or ("the task reports no metric" if cell.status == "ok" else "no reason recorded")
    key = (cell.status, task, reason)
    notes.setdefault(key, []).append(variant)
    mark = {"meaningless": "–", "failed": "✗ failed", "ok": "·", "swept": "↗"}.get(cell.status, "?")
    return dict(value=None, status=cell.status, reason=reason, mark=mark, note=list(notes).index(key) + 1)


def layer_page(site: Site, name: str) -> str:
    mine = [c for c in site.cells if c.variant == name]
    curve, caption = capacity_curve(mine)
    machine = speed_figures.machines(site.results)
    return site.render(
        f"layers/{name}.html", "layer.html", name=name, family=site.families[name], layer=site.layers.get(name),
        cells=mine, curve=curve, curve_caption=caption, equivalence=equivalence(site, name),
        bench=[replace(b, machine=machine[b.file]) for b in speed_figures.timed(site.results) if b.variant == name],
        claims=[c for c in site.claims if name in c.variants],
    )  # fmt: skip


def capacity_curve(mine: list[Cell]) -> tuple[str, str]:
    cell = next((c for c in mine if c.task == "capacity" and c.series.get("accuracy_by_step")), None)
    if not cell:
        return "", ""
    curves = cell.series["accuracy_by_step"]
    seeds = f"{len(curves)} seed{'s' if len(curves) > 1 else ''}"
    tuning = f"; {cells_.tuning(cell)}" if cells_.tuning(cell) else ""
    mean = [float(sum(v) / len(curves)) for v in zip(*curves)]
    d = cells_.ran_with(cell)["capacity"]["d"]
    return curve_svg(list(range(1, len(mean) + 1)), mean, "stored pairs"), (
        f"Accuracy of a read among n stored pairs at d = {d}; mean over {seeds}{tuning}."
    )


def curve_svg(x: list[int], y: list[float], across: str) -> Markup:
    """A small line chart in the page's colours."""
    wide, high, left, low = 520, 170, 44, 26
    top = max(max(y), 1e-9)
    place = [
        f"{left + (wide - left - 8) * (a - x[0]) / max(x[-1] - x[0], 1e-9):.1f},"
        f"{8 + (high - low - 8) * (1 - b / top):.1f}"
        for a, b in zip(x, y)
    ]
    return Markup(
        f'<svg class="curve" viewBox="0 0 {wide} {high}" role="img" aria-label="curve">'
        f'<path d="M{left} 8V{high - low}H{wide - 8}" class="axis"/><polyline points="{" ".join(place)}"/>'
        f'<text x="{left - 6}" y="16" text-anchor="end">{number(top, 2)}</text>'
        f'<text x="{left - 6}" y="{high - low}" text-anchor="end">0</text>'
        f'<text x="{left}" y="{high - 8}">{number(x[0])}</text><text x="{wide - 8}" y="{high - 8}" text-anchor="end">'
        f"{number(x[-1])} {escape(across)}</text></svg>"
    )


def equivalence(site: Site, name: str) -> list[Entry]:
    """The largest error of each form and type, compared with the layer's definition. The errors are points of the claim
    chunk_equals_recurrent."""
    worst: dict[tuple[Value, Value], Entry] = {}
    for c in site.claims:
        for p in c.points if c.id == "chunk_equals_recurrent" else []:
            s = p.params
            if s.get("variant") != name or p.relation != "at_most":
                continue
            key = (s.get("form", ""), s.get("real", ""))
            if key not in worst or p.measured > worst[key]["measured"]:
                at = params_text({k: v for k, v in s.items() if k not in ("variant", "form", "real")})
                worst[key] = dict(form=key[0], real=key[1], measured=p.measured, bound=p.predicted + p.tolerance, at=at)
    return list(worst.values())
