#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ci/claim_versions.py PROGRAM: gives a version to every claim that is new, and the next version to every claim whose statement
or verdict changed.

Appends to harness/core/claim_versions.inc, from which no digest is ever removed; build again afterwards. If a merge left two
rows of one claim, the longer one is kept."""
import json
import pathlib
import re
import subprocess
import sys

TABLE = pathlib.Path(__file__).resolve().parents[1] / "harness/core/claim_versions.inc"
ROW = re.compile(r'^\{"([^"]+)", "([^"]+)"\},$', re.M)


def updated(text, claims):
    """(the table `text` updated to the current claims {name in its paper: digest}, the changes as lines of text)"""
    rows = {}
    for name, digests in ROW.findall(text):
        rows[name] = max(rows.get(name, []), digests.split(), key=len)
    changes = []
    for name in sorted({*rows, *claims}):
        digests, now = rows.setdefault(name, []), claims.get(name, "withdrawn")
        if digests[-1:] != [now]:
            digests.append(now)
            changes.append(f"{name}: withdrawn" if now == "withdrawn" else f"{name}@{len(digests)}")
    return "".join(f'{{"{name}", "{" ".join(rows[name])}"}},\n' for name in sorted(rows)), changes


def main(program):
    listed = json.loads(subprocess.run([program, "list", "claims", "--json"], check=True, capture_output=True).stdout)
    claims = {f"{c['paper']}/{c['id']}": c["digest"] for c in listed}
    old = TABLE.read_text(encoding="utf-8")
    text, changes = updated(old, claims)
    if text != old:  # an unchanged file that is rewritten would be compiled again
        TABLE.write_text(text, encoding="utf-8")
    print("\n".join(changes) or "every claim has its version")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: ci/claim_versions.py PROGRAM")
    main(sys.argv[1])
