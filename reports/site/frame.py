# SPDX-License-Identifier: Apache-2.0
"""What the pages share: the data, the templates, and the frame around every page."""
from __future__ import annotations

import os
from typing import Any, Callable

import jinja2
from markupsafe import Markup

from reports import trained_rows, trainings
from reports.figures.draw import FIGURES
from reports.findings import FOUND, outcome, paper_of
from reports.records import Picture, Results
from reports.site import filters, formulas
from reports.site.catalogue import Entry, layer_texts, parameters

MARKS = dict(
    holds="●", holds_under="◑", holds_asymptotically="◐", refuted="○", boundary="◌", typo="¶", untrained="△",
    trained_holds="●", trained_in_part="◒", trained_refuted="○", trained_undecided="·", not_tested="–", failed="✗",
)  # fmt: skip
PAGES = ("Ledger", "Layers", "Tasks", "Noise", "Explorer", "Training", "Speed", "Provenance")
MENU = [(f"{name.lower()}.html", name) for name in PAGES]


def environment(mark: Callable[[str], Markup]) -> jinja2.Environment:
    loader = jinja2.FileSystemLoader(os.path.join(os.path.dirname(os.path.abspath(__file__)), "templates"))
    env = jinja2.Environment(loader=loader, autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True,
                             lstrip_blocks=True)  # fmt: skip
    env.filters.update(filters.FILTERS, maths=mark)
    return env


class Site:
    """Renders every page. `catalogue` is the program's description of layers and tasks, or {} if there is none."""

    def __init__(self, results: Results, pictures: dict[str, Picture], catalogue: Entry) -> None:
        self.results, self.pictures = results, pictures
        self.claims = sorted(results.claims, key=lambda c: (outcome(c) != "failed", paper_of(c), c.id))
        self.layers = {v["name"]: {**v, **layer_texts(v), **parameters(v)} for v in catalogue.get("variants", [])}
        self.tasks = {t["name"]: {**t, **parameters(t)} for t in catalogue.get("tasks", [])}
        self.cells = results.cells
        families = {c.variant: c.family for c in self.cells}
        timed = {b.variant: "family unknown" for b in results.bench}
        self.families = {**timed, **families, **{n: v["family"] for n, v in self.layers.items()}}
        self.known_tasks = sorted({c.task for c in self.cells} | set(self.tasks))
        self.matrix = results.matrix
        self.judged = trained_rows.judged(results)
        self.suite_of = trainings.suites(results)
        self.formulas = formulas.Formulas()
        self.env = environment(self.formulas.mark)
        self.footer = self.origin()

    def origin(self) -> tuple[str, str]:
        """Where the numbers come from, as two texts: versions and commits, and the number of files."""
        metas = [f.meta for f in self.results.files]
        if not metas:
            return "recollect report", "no result file"
        dirty = " with uncommitted changes" if any(m.get("git_dirty") == "true" for m in metas) else ""
        versions, commits = (sorted({m.get(name, "?")[:12] for m in metas}) for name in ("version", "git_commit"))
        some = f"commit {commits[0]}" if len(commits) == 1 else f"{len(commits)} commits"
        return f"recollect {', '.join(versions)}, {some}{dirty}", f"{len(metas)} result file{'s' * (len(metas) != 1)}"

    def render(self, here: str, template: str, **given: Any) -> str:
        return self.env.get_template(template).render(
            here=here, root="../" * here.count("/"), menu=MENU, footer=self.footer, marks=MARKS, found=FOUND,
            layers=self.families, suite_of=self.suite_of, katex=formulas.available(),
            settings={c.setting for c in self.results.matrix_cells}, **given,
        )  # fmt: skip

    def some(self, *names: str) -> list[Picture]:
        return [self.pictures[name] for name in names if name in self.pictures]

    def figures(self, page: str) -> list[Picture]:
        return self.some(*(name for name, _, _ in FIGURES[page]))

    def section(self, heading: str, page: str, what: str, command: str) -> tuple[str, list[Picture], str, str]:
        return heading, self.figures(page), what, command
