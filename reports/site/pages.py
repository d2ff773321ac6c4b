# SPDX-License-Identifier: Apache-2.0
"""Every page of the site."""
from __future__ import annotations

from typing import Iterator

from reports.site import claim_pages, figure_pages, first_page, layer_pages, task_pages, training_pages
from reports.site.frame import Site


def rendered(site: Site) -> Iterator[tuple[str, str]]:
    """(path, html) of every page, with placeholders for formulas."""
    yield "index.html", first_page.page(site)
    yield "provenance.html", site.render("provenance.html", "provenance.html", files=site.results.files)
    for kind in (claim_pages, layer_pages, task_pages, figure_pages, training_pages):
        yield from kind.pages(site)


def pages(site: Site) -> list[tuple[str, str]]:
    """(path, html) of every page."""
    return site.formulas.fill(list(rendered(site)))
