# SPDX-License-Identifier: Apache-2.0
"""Fails, one after the other, every single read, write, fsync, rename, file creation, truncation, allocation and mapping of
every command, on small inputs. Each time the command must succeed, or end with exit 3 and one line on standard error. Every
file under its final name must be whole, no input may be changed, and the command must never crash.

    faults.py RECOLLECT SHIM.so [--most N] [--report N]     # at most N failures of a kind and command, evenly spread:
              [--kinds read,write] [--commands bench,diff]  # default all; of report's allocations 200, 0 is all

The last line is "N passed, M failed"."""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import h5py
import numpy as np

# lines of bench before its one line; those of "[1/1]" and "recollect bench, 0:10 so far" come every ten seconds
NOTES = ("warning: other programs take", "measuring the peak rates", "[", "recollect bench, ")
CRATE = "ro-crate-metadata.json"
KINDS = ("read", "write", "fsync", "rename", "open", "truncate", "malloc", "mmap")
RUN = ("run", "--variants", "linear", "--tasks", "recall")
TRAIN = ("train", *(word for setting in "width=8 heads=1 layers=1 ffn=0 vocabulary=8 pairs=2 batch=2 steps=2".split()
                    for word in ("--set", setting)))  # fmt: skip


def inputs(program, folder):
    """name -> path of tensors, a layer's outputs for them, results, models, a suite to verify and one to train."""
    files = {name: os.path.join(folder, name) for name in ("in.h5", "o.h5", "drawn.h5", "models.h5", "verify.toml", "train.toml")}
    with h5py.File(files["in.h5"], "w") as f:
        for name in "qkv":
            f[name] = np.random.default_rng(1).normal(size=(1, 2, 9, 4))
    for words, name in ((RUN, "drawn.h5"), (TRAIN, "models.h5"), (("forward", "linear", "-i", files["in.h5"]), "o.h5")):
        subprocess.run([program, *words, "-o", files[name]], check=True, capture_output=True)
    pathlib.Path(files["verify.toml"]).write_text('claims = ["eq97-matrix-form"]\n')
    pathlib.Path(files["train.toml"]).write_text(
        '[[train]]\nname = "e"\nset = { width = 8, heads = 1, layers = 1, ffn = 0, vocabulary = 8, pairs = 2, batch = 2, steps = 2 }\n'
        '[[statement]]\nrow = "r"\nexperiment = "e"\nof = {}\nat_most = 1\n')
    return files


def commands(files, folder):
    """name -> (words, path of the output or "")"""
    at = lambda name: os.path.join(folder, name)  # noqa: E731
    given = lambda name: files.get(name, "")  # noqa: E731
    out, page = at("out.h5"), at("out.page")
    return {
        "start": (["list", "tasks"], ""),  # fails allocations before main()
        "run": (["run", "--variants", "linear", "--tasks", "recall,copy", "-o", out], out),
        "resume": ([*RUN, "--resume", "-o", out], out),  # resumes a finished out.h5.partial
        "verify": (["verify", "--suite", given("verify.toml"), "-o", out], out),
        "train": ([*TRAIN, "-o", out], out),
        "judge": (["train", "--suite", given("train.toml"), "--judge", given("models.h5"), "-o", out], out),
        "bench": (["bench", "--variants", "linear", "--shape", "1,1,8,4,4", "--min-time", "0", "--max-time", "0", "-o", out], out),
        "sample": (["sample", "linear", "--shape", "1,2,9,4,4", "-o", out], out),
        "forward": (["forward", "linear", "-i", given("in.h5"), "-o", out], out),
        "check": (["check", "linear", "-i", given("in.h5"), "-c", given("o.h5")], ""),
        "info": (["info", given("drawn.h5")], ""),
        "diff": (["diff", given("drawn.h5"), given("drawn.h5")], ""),
        "merge": (["merge", given("drawn.h5"), "-o", out], out),
        "crate": (["crate", given("drawn.h5"), "--license", "CC0-1.0", "-o", page], os.path.join(page, CRATE)),
        "serve": (["serve"], ""),
        "report": (["report", given("drawn.h5"), "--quiet", "-o", page], os.path.join(page, "index.html")),
    }


def requests(files):
    """For serve, a line each. The commands of the list share what the first one computes."""
    check = ["check", "linear", "-i", files["in.h5"], "-c", files["o.h5"]]
    return [["info", files["drawn.h5"]], check, check, ["info", files["drawn.h5"]]]


def ill_answered(answers):
    """What is wrong with the answers of serve, or "". One that fails says so in one line and leaves serve alive."""
    for answer in map(json.loads, answers):
        if answer["status"] not in (0, 3):
            return f"an answer has status {answer['status']}: {answer['err'][:200]}"
        if answer["status"] == 3 and answer["err"].count("\n") != 1:
            return f"an answer has status 3 and not one line: {answer['err'][:200]}"
    return ""


def contents(files):
    return {name: pathlib.Path(path).read_bytes() for name, path in files.items()}


def whole(path):
    """Whether every dataset of the file can be read, or a page is complete."""
    if path.endswith("index.html"):
        assert pathlib.Path(path).read_text().rstrip().endswith("</html>"), "the page is cut"
        return
    if path.endswith(CRATE):
        for node in json.loads(pathlib.Path(path).read_text())["@graph"]:
            if node["@type"] == "File":
                size = os.path.getsize(os.path.join(os.path.dirname(path), node["@id"]))
                assert size == int(node["contentSize"]), f"{node['@id']} is cut"
        return
    with h5py.File(path, "r") as f:
        f.visititems(lambda _, item: item[()] if isinstance(item, h5py.Dataset) else None)


def attempt(program, shim, name, kind, at, files):
    """(what went wrong or "", number of calls of the kind)"""
    with tempfile.TemporaryDirectory() as folder:
        return attempt_in(folder, program, shim, name, kind, at, files)


def attempt_in(folder, program, shim, name, kind, at, files):
    words, out = commands(files, folder)[name]
    if name == "resume":
        shutil.copy(files["drawn.h5"], out + ".partial")
    count = os.path.join(folder, "count")
    environment = dict(os.environ, LD_PRELOAD=shim, FAULT_KIND=kind, FAULT_AT=str(at), FAULT_COUNT=count, FAULT_FAMILY="1",
                       OMP_WAIT_POLICY="passive", OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")  # fmt: skip
    if name == "report":
        environment["FAULT_PROGRAM"] = "python"
    if name == "start":
        environment["FAULT_START"] = "1"
    asked = requests(files) if name == "serve" else []
    done = subprocess.run([program, *words], input="".join(json.dumps({"args": words}) + "\n" for words in asked),
                          capture_output=True, text=True, env=environment, timeout=600)  # fmt: skip
    seen = int(open(count).read() or 0) if os.path.exists(count) else 0
    if done.returncode not in (0, 3):
        return f"exit {done.returncode}: {done.stderr.strip()[:200]}", seen
    lines = [line for line in done.stderr.splitlines() if line.strip() and not line.startswith(NOTES)]
    if name == "start":
        lines = lines[-1:] if lines and lines[-1].startswith("recollect: the libraries do not start") else []  # beside theirs
    if done.returncode == 3 and len(lines) != 1 and kind != "write":  # writing the message may fail
        return f"exit 3 with {len(lines)} lines: {done.stderr.strip()[:200]}", seen
    if name == "serve":
        answers = done.stdout.splitlines()
        if done.returncode == 0 and len(answers) != len(asked):
            return f"exit 0 after {len(answers)} of {len(asked)} answers", seen
        if wrong := ill_answered(answers):
            return wrong, seen
    if name == "resume" and not (os.path.exists(out) or os.path.exists(out + ".partial")):
        return "what was to be resumed is lost", seen
    if done.returncode == 0 and out and not os.path.exists(out):
        return "exit 0 without its file", seen
    for path in (out, out + ".partial") if out else ():
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
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--commands", default=",".join(commands({}, "")))
    arguments = parser.parse_args()
    passed = failed = 0
    program, shim = os.path.abspath(arguments.program), os.path.abspath(arguments.shim)
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        files = inputs(program, folder)
        before = contents(files)
        for name in arguments.commands.split(","):
            for kind in arguments.kinds.split(","):
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
        if contents(files) != before:
            failed += 1
            print("an input has changed")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
