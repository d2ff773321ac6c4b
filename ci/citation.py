#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ci/citation.py [--check]: writes the references of CITATION.cff, i.e. the papers whose statements are measured, from
reports/papers.tsv. With --check: exit 1 if they differ."""
import csv
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
START = "references: # by ci/citation.py from reports/papers.tsv\n"


def person(name):
    """Splits a name: the family name begins at the first lower-case word after the first word; without one, it is the last
    word. "y" joins two family names. The name of a team is not split."""
    words = name.split()
    if words[-1] == "Team":
        return f'      - {{name: "{name}"}}'
    at = next((i - (w == "y") for i, w in enumerate(words) if i and w[0].islower()), len(words) - 1)
    return f'      - {{given-names: "{" ".join(words[:at])}", family-names: "{" ".join(words[at:])}"}}'


def reference(paper):
    names = [person(name) for name in paper["authors"].split(", ") if name] or ['      - {name: "anonymous"}']
    lines = [
        f'  - type: {"article" if paper["arxiv"] else "blog"}',
        f'    title: "{paper["title"]}"',
        "    authors:",
        *names,
    ]
    lines += [f'    year: {paper["year"]}'] if paper["year"] else []
    lines += [f'    url: "https://arxiv.org/abs/{paper["arxiv"]}"'] if paper["arxiv"] else []
    return "\n".join(lines) + "\n"


def with_references(text):
    with open(ROOT / "reports" / "papers.tsv", encoding="utf-8", newline="") as file:
        papers = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    return text.split(START)[0] + START + "".join(map(reference, papers))


def main(words):
    path = ROOT / "CITATION.cff"
    old = path.read_text(encoding="utf-8")
    new = with_references(old)
    if words == ["--check"]:
        return 0 if old == new else "CITATION.cff lacks papers of reports/papers.tsv: run ci/derive.sh"
    path.write_text(new, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
