# SPDX-License-Identifier: Apache-2.0
"""The pages of all tasks and of the experiments, and a page for each task."""
from __future__ import annotations

import math
from dataclasses import replace
from typing import Iterator

from reports.site.frame import Site


def pages(site: Site) -> Iterator[tuple[str, str]]:
    yield "tasks.html", tasks_page(site)
    for name in site.known_tasks:
        yield f"tasks/{name}.html", task_page(site, name)


def tasks_page(site: Site) -> str:
    known = [site.tasks.get(n, dict(name=n, summary="", source="")) for n in site.known_tasks]
    experiments = [
        dict(vars(e), cells=cells, pictures=site.some(f"experiment_{n}", f"heat_{n}"))
        for n, e in site.results.experiments.items()
        if (cells := [c for c in site.cells if c.experiment == n])
    ]
    return site.render("tasks.html", "tasks.html", tasks=known, experiments=experiments,
                       pictures=site.figures("sequences"))  # fmt: skip


def task_page(site: Site, name: str) -> str:
    same, shown = (site.matrix.same.get(name, {}), site.matrix.cell) if site.matrix else ({}, {})
    mine = [replace(c, same=same.get(c.variant, "") if c is shown.get((c.variant, name)) else "")
            for c in site.cells if c.task == name and c.experiment in ("", "matrix")]  # fmt: skip
    ok = [c for c in mine if c.status == "ok"]
    ok.sort(key=lambda c: -(c.direction or 1) * c.mean if c.mean == c.mean else math.inf)
    task = site.tasks.get(name, dict(name=name, summary="", source="", parameters=[]))
    return site.render(
        f"tasks/{name}.html", "task.html", task=task, ends=ok[0] if len({str(c.chance) for c in ok}) == 1 else None,
        headline=ok[0].headline if ok else "", pictures=site.some("sweep_" + name, "cost_" + name),
        cells=ok + [c for c in mine if c.status != "ok"],
    )  # fmt: skip
