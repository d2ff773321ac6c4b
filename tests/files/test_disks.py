# SPDX-License-Identifier: Apache-2.0
"""Disks that fail during a run: an exhausted quota, a defective or read-only disk, one that loses power."""
import errno
import json
import os
import pathlib
import random
import re
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor

import at_call
import power
from survival import RUN, Survival, count, reported

GIVES_OUT = (  # (call that fails, error)
    ("write", errno.EDQUOT),
    ("fsync", errno.EDQUOT),
    ("open", errno.EDQUOT),  # a quota of files
    ("rename", errno.EDQUOT),  # if the folder would grow
    ("fsync", errno.EIO),
    ("disk", errno.EROFS),  # as after a file system is remounted because of an error
)


def verified(said):
    """Number of claims in the table."""
    return len(re.findall(r" (holds|refuted)\n", said))


def trained(said):
    return len(re.findall(r"^\w+, seed ", said, re.M))


class Disks(Survival):
    def each(self, attempt, cases, told=str):
        """Runs two at a time; reports the first failure with its case."""

        def one(case):
            try:
                return attempt(*case)
            except AssertionError as failure:
                raise AssertionError(f"{told(case)}: {failure}") from failure

        with ThreadPoolExecutor(2) as pool:
            return list(pool.map(one, cases))

    def test_a_disk_that_gives_out(self):
        """Permanent failures: from the first call of a kind on, from one in between, and in the last."""
        whole = self.uninterrupted()

        def attempt(kind, code, at):
            out = self.path(f"{kind}.{code}.{at}.h5")
            done = self.run_program(*RUN, "-o", out, env=at_call.environment(kind, at, FAULT_ERRNO=str(code)))
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assert_one_line(done.stderr, os.strerror(code))
            self.assert_kept(out, reported(done.stdout))
            self.assert_resumes(out, whole)
            return reported(done.stdout)

        cases = []
        for kind, code in GIVES_OUT:
            calls = at_call.calls((*RUN, "-o", self.path("counted.h5")), kind, self.path("count"), FAULT_ERRNO=str(code))
            last = [] if kind == "disk" else [calls]  # if only cleaning up is left, nothing is lost
            cases += [(kind, code, at) for at in [1, calls // 2, *last]]
        for (_, _, at), cases_done in zip(cases, self.each(attempt, cases)):
            self.assertEqual(cases_done > 0, at > 1)

    def with_contents(self, state):
        """A folder with these files (path, bytes) and folders (path, None)."""
        folder = tempfile.mkdtemp(dir=self.folder)
        for path, data in state:
            if data is None:
                os.mkdir(os.path.join(folder, path))
            else:
                pathlib.Path(folder, path).write_bytes(data)
        return folder

    def assert_survives_cuts(self, words, whole, again, said=reported, table="records", most=4):
        """Power is cut right after any call that concerns files, or after the last output, whatever unsynchronised
        data the disk has kept. The table then contains what the words reported as done, counted by `said`, and
        `again` completes it."""
        folder, out = tempfile.mkdtemp(dir=self.folder), self.path("said")
        states = power.cuts((*words, "-o", os.path.join(folder, "r.h5")), folder, self.path("journal"), out)
        told = pathlib.Path(out).read_bytes()
        os.remove(self.path("journal"))
        self.assertEqual(said(told.decode()), count(whole[table]))
        most = int(os.environ.get("RECOLLECT_CUTS", most))  # by hand: 1000, which covers all
        resumed = set(random.Random(1).sample(list(states), min(most, len(states))))

        def attempt(state, length):
            folder = self.with_contents(state)
            self.assert_kept(os.path.join(folder, "r.h5"), said(told[:length].decode()), table)
            if state in resumed:
                self.assert_resumes(os.path.join(folder, "r.h5"), whole, again)

        self.each(attempt, states.items(), lambda case: f"left are {[(name, len(data)) for name, data in case[0]]}")

    def test_power_is_cut(self):
        self.assert_survives_cuts(RUN, self.uninterrupted(), (*RUN, "--resume"), most=20)

    def test_power_is_cut_while_claims_are_verified(self):
        words = ("verify", "theorem1*", "eq97_matrix_form", "eq9*_deltanet", "ffn_*")
        whole = self.uninterrupted(words, ("claim_plan", "claims", "claim_parameters", "claim_texts"))
        self.assert_survives_cuts(words, whole, (*words, "--resume"), verified, "claims")

    def test_power_is_cut_in_a_shard_and_where_shards_are_merged(self):
        words = ("run", "--variants", "linear,delta_net", "--tasks", "copy,overwrite", "--seeds", "3", "-v")
        whole, shards = self.uninterrupted(words), [self.path("1.h5"), self.path("2.h5")]
        for i, shard in enumerate(shards, 1):
            part = self.uninterrupted((*words, "--shard", f"{i}/2"), name=f"{i}.h5")
        self.assert_survives_cuts((*words, "--shard", "2/2"), part, (*words, "--shard", "2/2", "--resume"))
        merge = ("merge", *shards)
        self.assert_survives_cuts(merge, whole, merge, lambda told: count(whole["records"]) * told.count(" 0 missing\n"))

    def test_power_is_cut_while_models_are_trained(self):
        small = "mixer=linear,none width=8 heads=1 layers=1 ffn=0 vocabulary=8 pairs=2 batch=2 every=2 evaluate=1 steps=5"
        words = ("train", *(word for setting in small.split() for word in ("--set", setting)))
        whole = self.uninterrupted(words, ("training_plan", "training_parameters", "training_curves", "trained"))
        self.assert_survives_cuts(words, whole, (*words, "--resume"), trained, "trained")

    def test_power_is_cut_while_a_crate_is_made_or_replaced(self):
        """The folder is absent, whole, or as it was before; the next `crate` completes it and leaves nothing else."""
        parts = [self.path("r.h5"), self.path("notes.md")]
        self.assertEqual(self.run_program("run", "--variants", "linear", "--tasks", "recall", "-o", parts[0]).returncode, 0)
        pathlib.Path(parts[1]).write_text("why\n")
        crate = lambda *files, into: ("crate", *files, "--license", "CC0-1.0", "-o", into)
        for earlier in [], parts[:1]:
            folder, said = tempfile.mkdtemp(dir=self.folder), self.path("said")
            if earlier:
                self.assertEqual(self.run_program(*crate(*earlier, into=os.path.join(folder, "c"))).returncode, 0)
            before = power.contents(folder)
            states = power.cuts(crate(*parts, into=os.path.join(folder, "c")), folder, self.path("journal"), said)
            os.remove(self.path("journal"))
            whole = power.contents(folder)

            def attempt(state, length):
                there = self.with_contents(state)
                seen = {path: data for path, data in state if path.split("/")[0] == "c"}
                self.assertIn(seen, [whole] if length else [before, whole])
                done = self.run_program(*crate(*parts, into=os.path.join(there, "c")))
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(power.contents(there), whole)

            self.assertGreater(len(states), 10)
            self.each(attempt, states.items(), lambda case: f"left are {[(name, len(data or '')) for name, data in case[0]]}")

    def test_power_is_cut_while_serve_writes(self):
        """What an answer confirms is on the disk."""
        folder, said = tempfile.mkdtemp(dir=self.folder), self.path("said")
        out = [os.path.join(folder, f"{i}.h5") for i in range(3)]
        sample = ["sample", "linear", "--shape", "1,1,4,2,2", "-o"]
        asked = [[*sample, out[0]], ["forward", "linear", "-i", out[0], "-o", out[1]], [*sample, out[2]]]
        given = "".join(json.dumps({"args": words}) + "\n" for words in asked)
        states = power.cuts(("serve",), folder, self.path("journal"), said, given)
        told, whole = pathlib.Path(said).read_bytes(), power.contents(folder)
        self.assertEqual([json.loads(answer)["status"] for answer in told.splitlines()], [0, 0, 0])
        for state, length in states.items():
            for i, path in enumerate(out):
                name = os.path.basename(path)
                confirmed = i < told[:length].count(b"\n")
                self.assertIn(dict(state).get(name), [whole[name]] if confirmed else [None, whole[name]])


if __name__ == "__main__":
    unittest.main()
