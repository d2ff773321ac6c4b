# SPDX-License-Identifier: Apache-2.0
"""report.py RESULTS.h5 ... -o DIR: writes a site of static pages, which needs no network, into DIR, and its figures
into DIR/figures. With --format md, writes one Markdown file instead; with --csv, tables.

Exit codes: 0: written; 2: usage error; 3: a file cannot be read or a folder cannot be written. With code 3 there is one
line on standard error, and nothing is left behind."""
from __future__ import annotations

import argparse
import collections
import json
import logging
import os
import shutil
import sys
from typing import Any

os.environ["OMP_NUM_THREADS"] = "1"  # there is a drawing process for each core, so NumPy's threads would only compete

logging.getLogger("matplotlib").setLevel(
    logging.ERROR
)  # hides a warning that building the font cache takes long

from reports import publish  # noqa: E402
from reports import read  # noqa: E402
from recollect.schema import Unreadable  # noqa: E402
from reports.records import Results  # noqa: E402


def layers_in_order(results: Results) -> list[str]:
    """Every layer of the files, in the order in which layers get their looks (style.assign_looks). The first looks
    differ most, so the layers of figures with few layers come first. Layers of a family are adjacent."""
    family = {c.variant: c.family for c in results.cells}
    trained = {t.mixer for t in results.trainings}
    runs = collections.Counter((c.experiment, c.task, c.variant) for c in results.cells)
    swept = {variant for (experiment, _, variant), n in runs.items() if n > 1 or experiment not in ("", "matrix")}
    timed = {b.variant for b in results.bench}
    sets = sorted((trained, swept, timed, set(family)), key=len)
    return [layer for layers in sets for layer in sorted(layers, key=lambda v: (family.get(v, ""), v))]


def load(paths: list[str]) -> Results:
    """The results of all files, with cells, matrix and looks of layers."""
    results = read.read(paths)
    from reports import cells
    from reports import matrix
    from reports.figures import style
    from reports import trained_rows

    trained_rows.attach(results)
    results.cells = cells.cells(results.cases)
    named, unnamed = ([c for c in results.cells if c.experiment == name] for name in ("matrix", ""))
    results.matrix_cells = named or unnamed or results.cells
    results.matrix = matrix.build(results.matrix_cells)
    style.assign_looks(layers_in_order(results))
    return results


def write_site(results: Results, new: str, catalogue: dict[str, Any], descriptor: int | None) -> None:
    from reports.figures import draw  # loading the drawing library takes seconds, so bad input is refused first
    from reports.site import formulas, frame
    from reports.site import pages as site_pages

    pictures = draw.draw(results, os.path.join(new, "figures"), descriptor)
    for folder in publish.FOLDERS[1:]:
        os.makedirs(os.path.join(new, folder))
    for path, html in site_pages.pages(frame.Site(results, pictures, catalogue)):
        with open(os.path.join(new, path), "w", encoding="utf-8") as f:
            f.write(html)
    if formulas.available():
        formulas.copy_style(new)
    here = os.path.dirname(os.path.abspath(__file__))
    for name in ("site.css", "site.js", "explorer.js"):
        shutil.copyfile(os.path.join(here, "site", "templates", name), os.path.join(new, name))


def write(arguments: argparse.Namespace) -> None:
    folder = os.path.abspath(arguments.output)
    whole = arguments.format == "site" and not arguments.csv
    if whole:
        publish.check_folder(folder)
    results = load(arguments.results)
    catalogue = {}
    if arguments.catalogue:
        with open(arguments.catalogue, encoding="utf-8") as f:
            catalogue = json.load(f)
    if whole:
        with publish.site(folder) as new:
            write_site(results, new, catalogue, arguments.progress)
    else:
        from reports import tables

        publish.files(folder, tables.texts(results, arguments.format == "md", arguments.csv))


def main() -> int:
    parser = argparse.ArgumentParser(prog="recollect report", description="A site, or tables, from result files.")
    parser.add_argument("results", nargs="+", metavar="RESULTS.h5", help="or bench/results/DEVICE.csv")
    parser.add_argument("-o", "--output", required=True, metavar="DIR")
    parser.add_argument("--format", choices=("site", "md"), default="site")
    parser.add_argument("--csv", action="store_true", help="tables as CSV instead of pages")
    parser.add_argument("--progress", type=int, metavar="FD", help="file descriptor for progress messages")
    parser.add_argument("--catalogue", help="descriptions of layers and tasks, as JSON")
    arguments = parser.parse_args()
    try:
        write(arguments)
    except (Unreadable, OSError) as failure:
        print(f"recollect report: {' '.join(str(failure).split())}", file=sys.stderr)
        return 3
    except Exception as failure:  # a readable file with invalid contents, or lack of memory
        said = f"{', '.join(arguments.results)}: {type(failure).__name__}: {failure}"
        print(f"recollect report: no page can be made of {' '.join(said.split())[:500]}", file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
