# SPDX-License-Identifier: Apache-2.0
"""Draws mutants, builds them, tests them, and reports: used by ci/mutants.sh."""
import argparse
import concurrent.futures
import difflib
import os
import queue
import random
import shutil
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from judges import claims_of, python_tests_of, sources, tests_of, users  # noqa: E402
from scratch import ROOT, Scratch  # noqa: E402
from sites import Site, mutated, sites  # noqa: E402

KNOWN = "ci/equivalent_mutants.txt"
QUICK_PERCENT, FULL_PERCENT = 85, 95  # of the mutants that are not equivalent, the share that each suite must kill


def line_of(source, site):
    """The lines that the mutation touches, before and after it, without indentation."""
    begin, end = source.rfind("\n", 0, site.start) + 1, source.find("\n", site.end)
    after = source[begin : site.start] + site.text + source[site.end : end]
    return source[begin:end].strip(), after.strip()


def rows_of(path):
    """[[file, line before, line after, remark]]: the rows of a file that lists mutants."""
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        rows = [line.split(" | ") for line in f if line.strip() and not line.startswith("#")]
    return [[part.strip() for part in row] for row in rows]


def known_equivalents():
    return {tuple(row[:3]): row[3] for row in rows_of(KNOWN)}


def named(path):
    """The mutants of a list like ci/equivalent_mutants.txt, in its order."""
    for name, before, after, remark in rows_of(path):
        with open(os.path.join(ROOT, name), encoding="utf-8") as f:
            source = f.read()
        if source.count(before) != 1:
            raise SystemExit(f"mutants: {path}: {name} has this line {source.count(before)} times: {before}")
        start = source.index(before)
        yield name, Site(remark, start, start + len(before), after)


def drawn(files, seed):
    """Draws mutants without replacement: first a kind, then a place of that kind, so that no kind is rare."""
    draw, by_kind = random.Random(seed), {}
    for name in files:
        with open(os.path.join(ROOT, name), encoding="utf-8") as f:
            for site in sites(f.read()):
                by_kind.setdefault(site.kind, []).append((name, site))
    while by_kind:
        kind = draw.choice(sorted(by_kind))
        yield by_kind[kind].pop(draw.randrange(len(by_kind[kind])))
        if not by_kind[kind]:
            del by_kind[kind]


class Judge:
    """Builds and tests one mutant at a time in each of its scratch copies."""

    def __init__(self, copies, everything, first):
        self.first = first
        self.free = queue.Queue()
        for copy in copies:
            self.free.put(copy)
        self.everything, self.claims, self.known = everything, copies[0].claims(), known_equivalents()
        self.sound = {}  # (claim, suite) -> whether it passes in the unchanged tree
        if not first:
            self.passing(copies[0], [c["id"] for c in self.claims], "quick")

    def passing(self, copy, ids, suite):
        """The claims out of `ids` that pass in the unchanged tree, built like the mutants. Claims that fail there cannot kill
        a mutant."""
        new = [i for i in ids if (i, suite) not in self.sound]
        if new:
            failing = copy.failing(new, suite)
            self.sound.update({(i, suite): i not in failing for i in new})
        return [i for i in ids if self.sound[i, suite]]

    def judge(self, name, site):
        """(outcome of the mutant, the claims that killed it or the reason)."""
        copy = self.free.get()
        source = copy.read(name)
        try:
            before, after = line_of(source, site)
            if (name, before, after) in self.known:
                return "equivalent", self.known[name, before, after]
            ids = claims_of(name, self.claims, self.everything)
            stages, python = tests_of(name, self.everything), python_tests_of(name)
            if self.first:
                ids, stages, python = [], stages[:1], []
            if not stages and not python and not self.passing(copy, ids, "quick"):
                return "unjudged", "nothing tests this file"
            copy.write(name, mutated(source, site))
            if copy.compile().returncode:
                return "not compiled", ""
            if all(copy.objects.get(path) == code for path, code in copy.hashes().items()):
                return "equivalent", "the same compiled output"
            for stage in stages[:1] + [[test] for test in python] + stages[1:]:
                failed = copy.python_fails(*stage) if stage[0] in python else copy.tests_fail(stage)
                if failed:
                    return "tests", failed
            for suite in ("quick", "full") if name.startswith("theory/") else ("quick",):
                if not ids:
                    break
                failing = copy.failing(ids, suite, timeout=900)
                if failing and suite == "full":  # did these claims pass without the mutation?
                    copy.write(name, source)
                    copy.compile()
                killers = sorted(failing & set(self.passing(copy, ids, suite)))
                if killers:
                    return suite, ", ".join(killers)
            return "survived", ""
        finally:
            if copy.read(name) != source:
                copy.write(name, source)  # restores the source; it is built together with the next mutant
            self.free.put(copy)


def difference(name, site):
    with open(os.path.join(ROOT, name), encoding="utf-8") as f:
        source = f.read()
    lines = (text.splitlines() for text in (source, mutated(source, site)))
    return "\n".join(difflib.unified_diff(*lines, name, f"{name} ({site.kind})", n=1, lineterm=""))


def report(fates, out):
    count = {fate: sum(f == fate for _, _, f, _ in fates) for fate in WORDS}
    out.write("\n")
    for name, site, fate, _ in fates:
        if fate == "survived":
            out.write(difference(name, site) + "\n\n")
    kinds = sorted({site.kind for _, site, _, _ in fates})
    for kind in kinds:
        mine = [f for _, site, f, _ in fates if site.kind == kind]
        parts = ", ".join(f"{mine.count(f)} {words}" for f, words in WORDS.items() if f in mine)
        out.write(f"{kind}: {parts}\n")
    soon = count["tests"] + count["quick"]
    killed = soon + count["full"]
    judged = killed + count["survived"]
    if judged:
        quick, full = 100 * soon / judged, 100 * killed / judged
        out.write(f"killed by the quick suite {quick:.1f} %, by the full one {full:.1f} % of {judged}\n")
    out.write(f"{killed} killed, {count['survived']} survived, {count['equivalent']} equivalent\n")
    return judged > 0 and quick >= QUICK_PERCENT and full >= FULL_PERCENT


WORDS = {
    "tests": "killed by the file's tests",
    "quick": "killed by quick",
    "full": "killed by full",
    "survived": "survived",
    "equivalent": "equivalent",
}


def keep_telling(fates, count):
    """Prints every ten seconds how many mutants are judged, because a build or a suite takes minutes."""
    start = time.monotonic()
    while True:
        time.sleep(10)
        print(f"ci/mutants.sh, {int(time.monotonic() - start)} s so far: {len(fates)} of {count} judged", file=sys.stderr, flush=True)


def main():
    parser = argparse.ArgumentParser(prog="ci/mutants.sh", description="Mutants of predictions and measurements.")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=20, help="mutants to judge; what does not compile is drawn again")
    parser.add_argument("--jobs", type=int, default=1, help="scratch copies at work at once")
    parser.add_argument("--from", dest="named", help="judge the mutants of this list, instead of drawing any")
    parser.add_argument("--first", action="store_true", help="run no more than the tests of the file itself")
    parser.add_argument("--most-users", type=int, default=10**6, help="draw from no header that more sources include")
    parser.add_argument("--list", action="store_true", help="print the mutants that would be drawn, and build nothing")
    parser.add_argument("places", nargs="*", default=[os.path.join(ROOT, "theory")], metavar="file or folder")
    options = parser.parse_args()
    everything = {}
    for name in sources([os.path.join(ROOT, f) for f in ("theory", "variants", "tasks", "harness")]):
        with open(os.path.join(ROOT, name), encoding="utf-8") as f:
            everything[name] = f.read()
    files = [f for f in sources(options.places) if len(users(f, everything)) <= options.most_users]
    mutants = named(options.named) if options.named else drawn(files, options.seed)
    if options.list:
        for _, (name, site) in zip(range(options.count), mutants):
            print(difference(name, site))
        return 0
    fates, folder = [], tempfile.mkdtemp(prefix="mutants-")
    threading.Thread(target=keep_telling, args=(fates, options.count), daemon=True).start()
    try:
        with_tests = bool(options.named) or any(tests_of(name, everything) for name in files)
        copies = [Scratch(os.path.join(folder, f"copy-{i}"), with_tests) for i in range(options.jobs)]
        for copy in copies:
            copy.prepare()
        judge = Judge(copies, everything, options.first)
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            running = {}
            while True:
                while len(fates) + len(running) < options.count and len(running) < options.jobs:
                    mutant = next(mutants, None)
                    if mutant is None:
                        break
                    running[pool.submit(judge.judge, *mutant)] = mutant
                if not running:
                    break
                done, _ = concurrent.futures.wait(running, return_when=concurrent.futures.FIRST_COMPLETED)
                for future in done:
                    (name, site), (fate, why) = running.pop(future), future.result()
                    if fate not in WORDS:
                        continue  # drawn again
                    fates.append((name, site, fate, why))
                    before, after = line_of(everything[name], site)
                    print(f"[{len(fates)}/{options.count}] {WORDS[fate]}: {name}: {site.kind}")
                    print(f"    - {before}\n    + {after}\n    {why}", flush=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return 0 if report(fates, sys.stdout) else 1


if __name__ == "__main__":
    sys.exit(main())
