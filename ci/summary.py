#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ci/summary.py JUNIT.xml: the verdicts of a JUnit file as Markdown, one row per test, failed tests first."""
import sys
import xml.etree.ElementTree as ElementTree

MOST = 50  # rows, because the summary of a CI run is limited to a megabyte


def cell(text):
    return text.replace("|", "\\|").replace("<", "&lt;")


def first_line(element):
    lines = (element.get("message") or element.text or "").strip().splitlines()
    return lines[0][:300] if lines else ""


def rows(root):
    """(verdict, test, why) of every test case."""
    for case in root.iter("testcase"):
        verdict, why = "passed", ""
        for word, verdict_of_it in (("skipped", "not decided"), ("error", "failed"), ("failure", "failed")):
            found = case.find(word)
            if found is not None:
                verdict, why = verdict_of_it, first_line(found)
        yield verdict, ".".join(filter(None, (case.get("classname"), case.get("name")))), why


def summary(root):
    found = list(rows(root))
    counts = {v: sum(row[0] == v for row in found) for v in ("passed", "failed", "not decided")}
    told = [row for v in ("failed", "not decided") for row in found if row[0] == v]
    lines = ["**" + ", ".join(f"{n} {v}" for v, n in counts.items()) + "**"]
    if not found:
        lines = ["**No test ran: nothing was checked.**"]
    if told:
        lines += ["", "| verdict | test | why |", "|---|---|---|"]
        lines += [f"| {v} | `{name}` | {cell(why)} |" for v, name, why in told[:MOST]]
    if len(told) > MOST:
        lines += ["", f"{len(told) - MOST} more are in the JUnit file."]
    return "\n".join(lines)


def main(path):
    try:
        root = ElementTree.parse(path).getroot()
    except (OSError, ElementTree.ParseError) as failure:
        print("**No verdicts: the check did not run.**")
        sys.exit(f"summary: error: {path}: {failure}")
    print(summary(root))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: ci/summary.py JUNIT.xml")
    main(sys.argv[1])
