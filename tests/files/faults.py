# SPDX-License-Identifier: Apache-2.0
"""Fails every single write, fsync, rename, file creation, truncation, allocation and mapping of a small run, verify, forward and
report, one after the other. Each must end in success or in exit 3 with one line on standard error, and leave no file
under its final name that is not whole; never a crash.

    faults.py RECOLLECT SHIM.so [--most N] [--report N]     # at most N failures of a kind and command, evenly spread:
                                                            # default all; of report's allocations 200, 0 is all

The last line is "N passed, M failed"."""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import h5py
import numpy as np

KINDS = ("write", "fsync", "rename", "open", "truncate", "malloc", "mmap")


def inputs(program, folder):
    """A file of tensors and one of results."""
    source, drawn = os.path.join(folder, "in.h5"), os.path.join(folder, "drawn.h5")
    with h5py.File(source, "w") as f:
        for name in "qkv":
            f[name] = np.random.default_rng(1).normal(size=(1, 2, 9, 4))
    subprocess.run([program, "run", "--variants", "linear", "--tasks", "recall", "-o", drawn], check=True, capture_output=True)
    return source, drawn


def commands(source, drawn, folder):
    """name -> (words, what is written)"""
    out, page = os.path.join(folder, "out.h5"), os.path.join(folder, "out.page")
    return {
        "run": (["run", "--variants", "linear", "--tasks", "recall,copy", "-o", out], out),
        "verify": (["verify", "eq97-matrix-form", "-o", out], out),
        "forward": (["forward", "linear", "-i", source, "-o", out], out),
        "report": (["report", drawn, "--quiet", "-o", page], os.path.join(page, "index.html")),
    }


def whole(path):
    """Every dataset of the file can be read; a page goes to its end."""
    if path.endswith("index.html"):
        assert pathlib.Path(path).read_text().rstrip().endswith("</html>"), "the page is cut"
        return
    with h5py.File(path, "r") as f:
        f.visititems(lambda _, item: item[()] if isinstance(item, h5py.Dataset) else None)


def attempt(program, shim, name, kind, at, files):
    """(what went wrong or "", calls of the kind seen)"""
    with tempfile.TemporaryDirectory() as folder:
        return attempt_in(folder, program, shim, name, kind, at, files)


def attempt_in(folder, program, shim, name, kind, at, files):
    words, out = commands(*files, folder)[name]
    count = os.path.join(folder, "count")
    environment = dict(os.environ, LD_PRELOAD=shim, FAULT_KIND=kind, FAULT_AT=str(at), FAULT_COUNT=count, FAULT_FAMILY="1",
                       OMP_WAIT_POLICY="passive", OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")  # fmt: skip
    if name == "report":
        environment["FAULT_PROGRAM"] = "python"
    done = subprocess.run([program, *words], capture_output=True, text=True, env=environment, timeout=600)
    seen = int(open(count).read() or 0) if os.path.exists(count) else 0
    if done.returncode not in (0, 3):
        return f"exit {done.returncode}: {done.stderr.strip()[:200]}", seen
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    if done.returncode == 3 and len(lines) != 1 and kind != "write":  # the message's own write may fail
        return f"exit 3 with {len(lines)} lines: {done.stderr.strip()[:200]}", seen
    if done.returncode == 0 and not os.path.exists(out):
        return "exit 0 without its file", seen
    for path in (out, out + ".partial"):
        if os.path.exists(path):
            try:
                whole(path)
            except Exception as failure:
                return f"{os.path.basename(path)} is damaged: {failure}", seen
    return "", seen


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("shim")
    parser.add_argument("--most", type=int, default=0)
    parser.add_argument("--report", type=int, default=200)
    arguments = parser.parse_args()
    passed = failed = 0
    program, shim = os.path.abspath(arguments.program), os.path.abspath(arguments.shim)
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        files = inputs(program, folder)
        for name in commands("", "", ""):
            for kind in KINDS:
                problem, total = attempt(program, shim, name, kind, 0, files)
                assert not problem, problem
                places = range(1, total + 1)
                python = arguments.report if name == "report" and kind == "malloc" else 0
                most = min(filter(None, (arguments.most, python)), default=total)
                if total > most:
                    places = sorted({1 + i * total // most for i in range(most)})
                bad = 0
                for at, (problem, _) in zip(places, pool.map(lambda at: attempt(program, shim, name, kind, at, files), places)):
                    if problem:
                        bad += 1
                        print(f"{name}: {kind} {at} of {total}: {problem}")
                passed, failed = passed + len(places) - bad, failed + bad
                print(f"{name}: {kind}: {len(places)} of {total} failed one by one, {bad} ended badly", flush=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
