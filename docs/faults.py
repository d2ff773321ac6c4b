#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs commands of docs/data/faults.csv again; writes the last line that each prints, and the commit, into that file.

    docs/faults.py              # all of them: many hours; some need root
    docs/faults.py kills ext4   # those whose command has one of these words

Then docs/render.py puts the table into docs/reliability.md."""

from __future__ import annotations

import csv
import os
import re
import subprocess
import sys

import rendering

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DATA = os.path.join(ROOT, "docs", "data", "faults.csv")


def last_line(command: str) -> str:
    environment = dict(os.environ, RECOLLECT_PROGRAM=os.path.join(ROOT, "build", "recollect"))
    command = re.sub(r"(?<!python3 )\btests/files/(?=\w+\.py)", f"{sys.executable} tests/files/", command)
    done = subprocess.run(
        command, shell=True, cwd=ROOT, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    lines = [line for line in done.stdout.splitlines() if line.strip()]
    return lines[-1] if lines else f"exit {done.returncode}"


def main() -> int:
    origin, rows = rendering.read(DATA)
    head = ["git", "rev-parse", "--short=7", "HEAD"]
    commit = subprocess.run(head, cwd=ROOT, text=True, stdout=subprocess.PIPE).stdout.strip()
    for row in rows:
        if len(sys.argv) > 1 and not any(word in row["command"] for word in sys.argv[1:]):
            continue
        row["result"], row["commit"] = last_line(row["command"]), commit
        print(f"{row['command']}: {row['result']}", flush=True)
        with open(DATA, "w", encoding="utf-8", newline="") as file:
            file.writelines(f"# {line}\n" for line in origin)
            writer = csv.DictWriter(file, list(row), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
