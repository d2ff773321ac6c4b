# SPDX-License-Identifier: Apache-2.0
"""The page of trained models, and a page for each suite of them."""
from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Iterator

from reports import trainings
from reports.records import Picture
from reports.site.frame import Site


@dataclass
class Suite:
    """The trained models of one file."""

    name: str  # name of its page
    told: str  # a text: with which command and commit, and on which device, the models were trained
    models: int = 0
    diverged: bool = False
    experiments: list[trainings.TrainedExperiment] = field(default_factory=list)
    pictures: list[Picture] = field(default_factory=list)


def pages(site: Site) -> Iterator[tuple[str, str]]:
    found = suites(site)
    yield "training.html", site.render(
        "training.html", "training.html", suites=found, claim_ids={c.id for c in site.claims}, judged=site.judged
    )
    for suite in found:
        path = f"training/{suite.name}.html"
        yield path, site.render(path, "suite.html", suite=suite, claim_ids={c.id for c in site.claims})


def suites(site: Site) -> list[Suite]:
    """The suites of trained models: their experiments with statements and figures."""
    found: dict[int, Suite] = {}
    stated = [s for row in site.judged.values() for s in row.statements]
    for i, e in enumerate(trainings.experiments(site.results)):
        file = e.file
        mine = [s for s in stated if (s.file, s.experiment or "trained") == (file, e.name)]
        told = trainings.told(site.results.files[file].meta)
        pictures = site.some(f"state_{file}", f"words_{file}")
        suite = found.setdefault(file, Suite(site.suite_of[file], told, pictures=pictures))
        suite.models += sum(len(row.runs) for row in e.rows)
        suite.diverged |= any("diverged" in row.others for row in e.rows)
        suite.experiments.append(replace(e, statements=mine, pictures=site.some(f"training_{i}", f"rates_{i}")))
    return list(found.values())
