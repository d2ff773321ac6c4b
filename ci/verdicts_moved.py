#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The changelog of verdicts as CSV: one row for each claim whose verdict differs between two files, or that is new or gone.

    ci/verdicts_moved.py OLD.h5 NEW.h5 ...    # results files of verify, or baselines, the oldest first
    ci/verdicts_moved.py >docs/data/verdicts-moved.csv    # every commit of ci/baseline.h5; then docs/render.py
"""
import csv
import io
import pathlib
import subprocess
import sys

import h5py

ROOT = pathlib.Path(__file__).resolve().parents[1]
BASELINE = "ci/baseline.h5"


def verdicts(source):
    """{claim: verdict} of a results file, given as a path or file object. If a claim was measured at several points, the last
    one counts."""
    with h5py.File(source, "r") as file:
        # Version 1 stores verdicts with the points only.
        old = "verdict" not in file["claim_texts"].dtype.names
        name, column = ("claims", "claim_verdict") if old else ("claim_texts", "verdict")
        return {row["claim"].decode(): row[column].decode() for row in file[name][()]}


def moved(steps):
    """Rows (step, claim, was, is), the newest step first, from `steps`, [(name of the step, {claim: verdict})]. The first step
    gives no rows, because nothing is known before it. "" stands for the verdict of a claim that does not exist."""
    rows = []
    for (_, old), (step, new) in reversed(list(zip(steps, steps[1:]))):
        rows += [(step, c, old.get(c, ""), new.get(c, "")) for c in sorted({*old, *new}) if old.get(c) != new.get(c)]
    return rows


def history(root):
    """The steps (moved()) of the baseline's commits in a repository, named "DATE COMMIT", the oldest first."""

    def git(*words):
        return subprocess.run(["git", *words], cwd=root, check=True, capture_output=True).stdout

    log = git("log", "--reverse", "--format=%h %as", "--", BASELINE).decode().split("\n")[:-1]
    return [
        (f"{date} {commit}", verdicts(io.BytesIO(git("show", f"{commit}:{BASELINE}"))))
        for commit, date in (line.split() for line in log)
    ]


def main(paths, root=ROOT):
    steps = [(path, verdicts(path)) for path in paths] if paths else history(root)
    if not paths:
        print(f"# ci/verdicts_moved.py: {BASELINE} at each commit that changed it, since {steps[0][0]}")
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(("since", "claim", "was", "is"))
    out.writerows(moved(steps))


if __name__ == "__main__":
    if len(sys.argv) == 2:
        sys.exit("usage: ci/verdicts_moved.py [OLD.h5 NEW.h5 ...]")
    main(sys.argv[1:])
