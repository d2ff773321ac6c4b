# SPDX-License-Identifier: Apache-2.0
"""Kills the program again and again at random system calls, until it has finished what it began.

    RECOLLECT_PROGRAM=build/recollect tests/files/kills.py COUNT [SEED]

A series is one run, verify, train or merge that is killed (SIGKILL, SIGTERM, SIGINT) at a random place, started again with
--resume, killed again ..., up to ten times, and then left alone. After every kill its file must contain what it had reported.
At the end the tables must equal those of a series that was never killed, and no other file may be left. The last line ends with
"N passed, M failed", which counts kills; a line every hundred kills shows progress."""
import collections
import os
import pathlib
import random
import re
import signal
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import at_call
from survival import Survival, count, reported, rows

SMALL = "mixer=linear,none width=8 heads=1 layers=1 ffn=0 vocabulary=8 pairs=2 batch=2 every=2 evaluate=1 steps=5"
SERIES = {  # name -> (words, may be resumed, tables, the first counts what is reported, how reports read)
    "run": (("run", "--variants", "linear,delta_net", "--tasks", "recall,copy,mqar", "--seeds", "3", "-v"), True,
            ("records", "plan", "parameters", "metrics", "series/mse_by_step"), reported),
    "verify": (("verify", "theorem1*", "eq97_matrix_form", "eq9*_deltanet", "ffn_*"), True,
               ("claims", "claim_plan", "claim_parameters", "claim_texts"), lambda said: len(re.findall(r" (holds|refuted)\n", said))),
    "train": (("train", *(word for setting in SMALL.split() for word in ("--set", setting)), "--seeds", "2"), True,
              ("trained", "training_plan", "training_parameters", "training_curves"),
              lambda said: len(re.findall(r"^\w+, seed ", said, re.M))),
}  # fmt: skip


def merging(test):
    """The series for two shards of the run, which are created in the test's folder."""
    parts = [test.path("1.h5"), test.path("2.h5")]
    words, _, tables, _ = SERIES["run"]
    for i, part in enumerate(parts, 1):
        assert test.run_program(*words, "--shard", f"{i}/2", "-o", part).returncode == 0
    cases = count(rows(parts[0], "plan"))
    return ("merge", *parts), False, tables, lambda said: cases * said.count(" 0 missing\n")


class Kills(Survival):
    def runTest(self):
        whole = {name: self.uninterrupted(words, tables, name + ".h5") for name, (words, _, tables, _) in SERIES.items()}
        SERIES["merge"] = merging(self)
        whole["merge"] = whole["run"]
        calls = {(name, kind): at_call.calls((*words, "-o", self.path("counted.h5")), kind, self.path("count"))
                 for name, (words, *_) in SERIES.items() for kind in at_call.KINDS}  # fmt: skip
        self.killed, self.failed = collections.Counter(), 0
        wanted, seed = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1

        def series(number):
            if sum(self.killed.values()) >= wanted:
                return
            draw = random.Random(f"{seed} {number}")
            name = draw.choice(list(SERIES))
            kills = []
            try:
                with tempfile.TemporaryDirectory(dir=self.folder) as folder:
                    self.one(name, whole[name], calls, draw, os.path.join(folder, "r.h5"), kills)
            except AssertionError as failure:
                self.failed += 1
                print(f"series {number}: {name} killed at {kills}: {failure}", flush=True)
            before = sum(self.killed.values())
            self.killed[name] += len(kills)
            if before // 100 < sum(self.killed.values()) // 100:
                self.tell()

        with ThreadPoolExecutor(2) as pool:
            list(pool.map(series, range(10 * wanted)))
        self.tell()

    def tell(self):
        each = ", ".join(f"{name} {n}" for name, n in sorted(self.killed.items()))
        print(f"{each}: {sum(self.killed.values()) - self.failed} passed, {self.failed} failed", flush=True)

    def one(self, name, whole, calls, draw, out, kills):
        words, resumes, (first, *_), said = SERIES[name]
        again = (*words, "--resume") if resumes else words
        log = os.path.join(os.path.dirname(out), "said")
        for _ in range(draw.randint(1, 10)):
            kind, by = draw.choice(at_call.KINDS), draw.choice((signal.SIGKILL, signal.SIGTERM, signal.SIGINT))
            if calls[name, kind] == 0:
                continue
            at = draw.randint(1, calls[name, kind])
            begun = os.path.exists(out) or os.path.exists(out + ".partial")
            with open(log, "w") as told:
                status = at_call.started((*(again if begun else words), "-o", out), kind, at, by, told).wait()
            if status == 0:  # the rest of the work has fewer calls
                break
            self.assertEqual(status, -by)
            kills.append((kind, at, by.name))
            # A resumed series reports what is new in addition to the file's contents.
            self.assert_kept(out, said(pathlib.Path(log).read_text()), first)
        self.assert_resumes(out, whole, again)


if __name__ == "__main__":
    test = Kills()
    test.setUp()
    test.runTest()
    test.doCleanups()
    sys.exit(test.failed > 0)
