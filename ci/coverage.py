#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Line and branch coverage of what handles files: harness/core, harness/check and the files of harness/pipeline.

    ci/coverage.py              # after ci/build.sh; needs gcovr. Writes build/coverage/summary.csv
    ci/coverage.py core files   # of these alone

Those sources alone are compiled anew, without optimisation and with counters, and linked before the libraries of
build/. Their C++ tests and the Python tests of files run once. Branches that only an exception takes are left out. The
last line is the coverage of all of them together."""

from __future__ import annotations

import csv
import json
import os
import re
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.join(ROOT, "build")
OUT = os.path.join(BUILD, "coverage")
FILES = "convention|diff|digest|hdf5_file|hdf5_image|npy|recorder|results|safetensors|suite|tensor_file|tensors"
AREAS = {  # name -> (its sources, the Python tests that reach them)
    "core": (r"harness/core/\w+\.cpp$", ("test_durability", "test_disks", "test_names", "test_ranks")),
    "check": (r"harness/check/\w+\.cpp$", ("test_check", "test_check_conventions")),
    "files": (rf"harness/pipeline/({FILES})\.cpp$", ("test_hostile", "test_schemas")),
}
# A child that reads a file ends by _exit(), without writing its counters, and may not write them where it is confined.
HOOKS = """#include <cstdlib>
extern "C" void __gcov_dump();
extern "C" void __real__exit(int);
extern "C" void __wrap__exit(int status) { __gcov_dump(), __real__exit(status); }
namespace recollect { bool confine_to_reading() { return false; } }
"""


def run(words: list[str], **options: object) -> None:
    subprocess.run(words, check=True, cwd=BUILD, **options)  # type: ignore[call-overload]


def compiled(command: dict[str, str]) -> str:
    """An object file with counters."""
    target = os.path.join(OUT, os.path.relpath(command["file"], ROOT).replace("/", "+") + ".o")
    dropped = re.compile(r"-Winvalid-pch$|-Werror$|-O\d|-DNDEBUG$")
    words = [word for word in shlex.split(command["command"]) if not dropped.match(word)]
    words[words.index("-o") + 1] = target
    run([*words, "-O0", "-w", "--coverage"])
    return target


def link(program: str, objects: list[str]) -> str:
    """A program of build/ with these objects in place of those in its libraries."""
    listed = ["ninja", "-t", "commands", program]
    said = subprocess.run(listed, cwd=BUILD, text=True, stdout=subprocess.PIPE, check=True).stdout
    words = shlex.split(said.splitlines()[-1].split("&&")[1])
    out = words.index("-o")
    words[out + 1] = os.path.join(OUT, program)
    run([*words[:out], *objects, *words[out:], "--coverage", "-Wl,--wrap=_exit", "-Wl,--allow-multiple-definition"])
    return words[out + 1]


def suites_of(sources: re.Pattern[str]) -> list[str]:
    """The suites of the tests that stand where those sources do."""
    found = []
    for folder in "core", "check", "pipeline":
        for name in sorted(os.listdir(os.path.join(ROOT, "tests/harness", folder))):
            if sources.search(f"harness/{folder}/{name}"):
                with open(os.path.join(ROOT, "tests/harness", folder, name), encoding="utf-8") as file:
                    found.append("/".join(re.findall(r"^BOOST_AUTO_TEST_SUITE\((\w+)", file.read(), re.M)))
    return [suite for suite in found if suite != "harness/confine"]  # it would find the child unconfined


def main() -> int:
    areas = [AREAS[name] for name in sys.argv[1:] or AREAS]
    sources = re.compile("|".join(pattern for pattern, _ in areas))
    os.makedirs(OUT, exist_ok=True)
    with open(os.path.join(BUILD, "compile_commands.json"), encoding="utf-8") as file:
        commands = [c for c in json.load(file) if sources.search(os.path.relpath(c["file"], ROOT))]
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        objects = list(pool.map(compiled, commands))
    hooks = os.path.join(OUT, "hooks.cpp")
    with open(hooks, "w", encoding="utf-8") as file:
        file.write(HOOKS)
    run(["c++", "-c", hooks, "-o", hooks + ".o"])
    objects = [hooks + ".o", *(o for o in objects if not o.endswith("confine.cpp.o"))]
    tests, program = link("tests", objects), link("recollect", objects)
    for name in "libfaults.so", "libjournal.so":
        run(["cp", name, OUT])
    environment = dict(os.environ, RECOLLECT_PROGRAM=program, OMP_NUM_THREADS="2")
    steps = [([tests, "--run_test=" + suite], ROOT) for suite in suites_of(sources)]
    for name in (name for _, names in areas for name in names):
        steps.append(([sys.executable, "-m", "unittest", "-q", name], os.path.join(ROOT, "tests/files")))
    for words, folder in steps:
        done = subprocess.run(
            words, cwd=folder, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        if done.returncode != 0:
            print(f"{words[-1]}: {done.stdout[-2000:]}", file=sys.stderr, flush=True)
    report = os.path.join(OUT, "all.csv")
    run(["gcovr", "--exclude-throw-branches", "--root", ROOT, "--object-directory", OUT, "--csv", report, OUT,
         "--gcov-ignore-parse-errors"])  # fmt: skip
    with open(report, encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if sources.search(row["filename"])]
    rows.sort(key=lambda row: float(row["branch_percent"] or 1))
    counted = ("line_covered", "line_total", "branch_covered", "branch_total")
    sums = [sum(int(row[name]) for row in rows) for name in counted]
    with open(os.path.join(OUT, "summary.csv"), "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["file", "lines", "lines reached", "branches", "branches reached"])
        for row in rows:
            shown = ("filename", "line_total", "line_covered", "branch_total", "branch_covered")
            writer.writerow([row[name] for name in shown])
    shares = f"{100 * sums[0] / sums[1]:.1f}% of lines, {100 * sums[2] / sums[3]:.1f}% of branches"
    print(f"{shares}: {sums[0]} of {sums[1]} lines, {sums[2]} of {sums[3]} branches")
    return 0


if __name__ == "__main__":
    sys.exit(main())
