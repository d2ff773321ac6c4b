# SPDX-License-Identifier: Apache-2.0
"""No measured result is lost: kills, second writers, overlaps, full and closed outputs, injected faults."""
import hashlib
import itertools
import os
import pathlib
import random
import resource
import shutil
import signal
import subprocess
import sys
import unittest

import at_call
import h5py
from survival import PROGRAM, RUN, Survival, reported, rows

HERE = os.path.dirname(os.path.abspath(__file__))


class Durability(Survival):
    def refused(self, message, *arguments, status=3):
        done = self.run_program(*arguments)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertIn(message, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)

    def test_killed_anywhere_and_resumed_equals_uninterrupted(self):
        whole, counts = self.uninterrupted(), {}
        draw = random.Random(1)
        for i in range(int(os.environ.get("RECOLLECT_KILLS", "5"))):  # by hand: 200
            out, log, kind = self.path(f"{i}.h5"), self.path(f"{i}.log"), at_call.KINDS[i % len(at_call.KINDS)]
            if kind not in counts:
                counts[kind] = at_call.calls((*RUN, "-o", self.path("counted.h5")), kind, self.path("count"))
            at, by = draw.randint(1, counts[kind]), draw.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
            with self.subTest(kind=kind, at=at, by=by.name), open(log, "w") as said:
                at_call.killed((*RUN, "-o", out), kind, at, by, said)
                self.assert_kept(out, reported(pathlib.Path(log).read_text()), report=i < 3)
                self.assert_resumes(out, whole)

    def test_one_output_takes_one_process(self):
        out = self.path("r.h5")
        first = at_call.stopped((*RUN, "-o", out), "rename", 3)
        self.refused("another process is writing it", *RUN, "-o", out)
        self.refused("another process is writing it", *RUN, "-o", out, "--resume")
        first.send_signal(signal.SIGCONT)
        self.assertEqual(first.wait(), 0)
        self.assertEqual(self.run_program("info", out).returncode, 0)

    def test_what_was_interrupted_is_not_overwritten(self):
        out = self.path("r.h5")
        at_call.killed((*RUN, "-o", out), "rename", 3)
        self.assertGreater(len(rows(out + ".partial", "records")), 0)
        self.refused("--resume", *RUN, "-o", out)
        self.refused("seed 1 there, 2 here", *RUN, "--seed", "2", "-o", out, "--resume")
        self.refused("another plan", "run", "--variants", "linear", "--tasks", "recall", "-o", out, "--resume")
        self.refused("--resume needs", *RUN, "--resume", status=2)
        told = self.run_program("info", out + ".partial")
        self.assertEqual(told.returncode, 1)
        self.assertIn("planned, not recorded", told.stdout)

    def test_verify_resumes(self):
        whole, cut = self.path("whole.h5"), self.path("cut.h5")
        claims = ("verify", "eq97-matrix-form", "chunk-equals-recurrent", "theorem*")
        self.run_program(*claims, "-o", whole)
        at_call.killed((*claims, "-o", cut), "rename", 3)
        self.assertTrue(0 < len(set(row[0] for row in rows(cut + ".partial", "claims"))) < len(rows(whole, "claim_plan")))
        self.run_program(*claims, "-o", cut, "--resume")
        for table in "claim_plan", "claims", "claim_parameters":
            self.assertEqual(rows(cut, table), rows(whole, table), table)

    def test_an_output_is_no_input_and_no_other_output(self):
        source = self.path("a.h5")
        with h5py.File(source, "w") as f:
            for name in "qkv":
                f[name] = [[[[1.0]]]]
        before = pathlib.Path(source).read_bytes()
        self.refused("overwrite the input", "forward", "linear", "-i", source, "-o", source, status=2)
        os.rename(source, self.path("o.h5.partial"))
        self.refused("overwrite the input", "forward", "linear", "-i", self.path("o.h5.partial"), "-o", self.path("o.h5"), status=2)
        self.assertEqual(pathlib.Path(self.path("o.h5.partial")).read_bytes(), before)
        same = self.path("x")
        self.refused("two outputs are one file", "verify", "eq97-matrix-form", "--json", same, "--junit", same, status=2)

    def test_standard_output_that_is_full_or_closed(self):
        for arguments in (("list", "variants"), ("run", "--variants", "linear", "--tasks", "recall"), ("verify", "eq97-matrix-form")):
            with open("/dev/full", "w") as full:
                done = self.run_program(*arguments, stdout=full, stderr=subprocess.PIPE, capture_output=False)
            self.assertEqual(done.returncode, 3, arguments)
            self.assertEqual(done.stderr.count("\n"), 1)
        for i, closed in enumerate((">&-", "<&- >/dev/null", "2>&- >/dev/null", "<&- >&- 2>&-")):
            out = self.path(f"{i}.h5")
            command = f"'{PROGRAM}' run --variants linear --tasks recall,nothing_of_the_kind --seeds 1 -o '{out}' {closed}"
            self.assertEqual(subprocess.run(command, shell=True, stderr=subprocess.DEVNULL).returncode, 2)
            self.assertFalse(os.path.exists(out))  # nor was the error message printed into it
            done = subprocess.run(command.replace(",nothing_of_the_kind", ""), shell=True, stderr=subprocess.DEVNULL)
            self.assertEqual(len(rows(out, "records")), 1, closed)  # the table was not printed into it
            self.assertEqual(done.returncode, 0, closed)

    def test_a_folder_that_takes_no_file(self):
        """Root can write into a read-only folder, but not into /proc."""
        source = self.path("in.h5")
        sample = ("sample", "linear", "--shape", "1,1,4,2,2")
        self.assertEqual(self.run_program(*sample, "-o", source).returncode, 0)
        for folder in "/proc", self.path("no/such"):
            out = os.path.join(folder, "r.h5")
            for words in RUN, ("verify", "eq97-matrix-form"), ("forward", "linear", "-i", source), sample:
                self.refused(out, *words, "-o", out)

    def test_a_limit_of_files_is_named(self):
        """ulimit -f, which ends the process by SIGXFSZ unless that is ignored."""
        source, results = self.path("in.h5"), self.path("r.h5")
        self.assertEqual(self.run_program("sample", "linear", "--shape", "1,2,64,16,16", "-o", source).returncode, 0)
        self.assertEqual(self.run_program(*RUN, "-o", results).returncode, 0)
        limited = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))}
        for words in RUN, ("verify", "eq97-matrix-form"), ("forward", "linear", "-i", source), ("merge", results):
            out = self.path("limited.h5")
            done = self.run_program(*words, "-o", out, **limited)
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assert_one_line(done.stderr, "File too large (ulimit -f)")
            self.assertEqual([name for name in os.listdir(self.folder) if name.startswith("limited")], [])
        for words in ("info", results), ("diff", results, results):
            self.assertEqual(self.run_program(*words, **limited).returncode, 0, words)  # they write no file

    def below(self, name):
        """Path -> digest of all files in a folder."""
        folder = pathlib.Path(self.path(name))
        digest = lambda path: hashlib.sha256(path.read_bytes()).hexdigest()
        return {str(path.relative_to(folder)): digest(path) for path in folder.rglob("*") if path.is_file()}

    def test_a_crate_is_whole_or_absent(self):
        """A call of `crate` fails, or `crate` is ended right before it, while it makes a crate and while it replaces one.
        The folder is as it was before, or whole; the next `crate` completes it."""
        results, notes, place = self.path("r.h5"), self.path("notes.md"), self.path("crates")
        self.assertEqual(self.run_program("run", "--variants", "linear", "--tasks", "recall", "-o", results).returncode, 0)
        pathlib.Path(notes).write_text("why\n")
        packing = lambda *files, into="crates/c": ("crate", *files, "--license", "CC0-1.0", "-o", self.path(into))
        words = packing(results, notes)
        self.assertEqual(self.run_program(*packing(results, notes, into="whole")).returncode, 0)
        self.assertEqual(self.run_program(*packing(results, into="earlier")).returncode, 0)
        whole = self.below("whole")

        def begin(earlier):
            shutil.rmtree(place, ignore_errors=True)
            if earlier:
                shutil.copytree(self.path(earlier), os.path.join(place, "c"))

        def attempt(earlier, kind, at, by):
            begin(earlier)
            before = self.below("crates/c")
            if by:
                at_call.killed(words, kind, at, by)
            else:
                done = self.run_program(*words, env=at_call.environment(kind, at))
                self.assertIn(done.returncode, (0, 3), done.stderr)
                if done.returncode:
                    self.assert_one_line(done.stderr)
            self.assertIn(self.below("crates/c"), [before, whole])
            if by != signal.SIGKILL and (kind, by) not in (("fsync", None), ("unlink", None)):
                self.assertIn(os.listdir(place) if os.path.exists(place) else [], [[], ["c"]])
            self.assertEqual(self.run_program(*words).returncode, 0)
            self.assertEqual(self.below("crates/c"), whole)
            self.assertEqual(os.listdir(place), ["c"])

        cases = []
        for earlier in "", "earlier":
            for kind in at_call.KINDS:
                begin(earlier)
                calls = at_call.calls(words, kind, self.path("count"))
                cases += itertools.product([earlier], [kind], range(1, 1 + calls), (None, signal.SIGTERM, signal.SIGKILL))
        most = int(os.environ.get("RECOLLECT_KILLS", "40"))  # by hand: 1000, which covers all
        for case in random.Random(1).sample(cases, min(most, len(cases))):
            with self.subTest(case=case):
                attempt(*case)

    def test_strange_inputs_end(self):
        pipe = self.path("pipe")
        os.mkfifo(pipe)
        self.refused("not a regular file", "verify", "--suite", pipe)
        self.refused("a folder", "verify", "--suite", self.folder)
        self.refused("not a regular file", "forward", "linear", "-i", pipe, "-o", self.path("o.h5"))
        self.refused("not a regular file", "info", pipe)
        pathlib.Path(self.path("junk.h5")).write_text("junk")
        self.refused("not a readable HDF5 file", "info", self.path("junk.h5"))

    def test_damage_is_found(self):
        """After flipping any bit, the file is refused or still contains what was written."""
        out, damaged = self.path("r.h5"), self.path("d.h5")
        self.run_program("run", "--variants", "linear", "--tasks", "recall", "-o", out)
        whole, told = pathlib.Path(out).read_bytes(), self.run_program("info", out, "--json").stdout
        with h5py.File(out) as f:
            tables = [name for name, item in f.items() if isinstance(item, h5py.Dataset)]
        before = {table: rows(out, table) for table in tables}
        draw, refused = random.Random(1), 0
        for i in range(int(os.environ.get("RECOLLECT_FLIPS", "150"))):  # by hand: 4000
            flipped = bytearray(whole)
            flipped[draw.randrange(len(whole))] ^= 1 << draw.randrange(8)
            pathlib.Path(damaged).write_bytes(flipped)
            done = self.run_program("info", damaged, "--json")
            if done.returncode == 0:
                self.assertEqual(done.stdout.replace("d.h5", "r.h5"), told)
                self.assertEqual({table: rows(damaged, table) for table in tables}, before)
                continue
            refused += 1
            said = [line for line in done.stderr.splitlines() if not line.endswith(" so far")]  # HDF5 may loop: 10 s end it
            self.assertEqual((done.returncode, len(said), done.stdout), (3, 1, ""), done.stderr)
        self.assertGreater(refused, 0)
        for cut in range(0, len(whole), len(whole) // 40):
            pathlib.Path(damaged).write_bytes(whole[:cut])
            self.assertEqual(self.run_program("info", damaged).returncode, 3)

    def test_injected_faults(self):
        """A subset of what tests/files/faults.py tests by hand."""
        commands = "run,resume,verify,train,judge,sample,forward,check,info,diff,merge,crate,serve,report"
        for words in (("--most", "4", "--commands", commands), ("--commands", "sample,resume", "--kinds", "read"),
                      ("--most", "1", "--commands", "bench", "--kinds", "rename")):  # fmt: skip
            done = subprocess.run([sys.executable, os.path.join(HERE, "faults.py"), PROGRAM, at_call.SHIM, *words],
                                  capture_output=True, text=True)  # fmt: skip
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertIn(" 0 failed", done.stdout.splitlines()[-1])

    def test_clocks_that_jump(self):
        """The wall clock jumps by 40 years whenever it is read, and the steady clock advances by a day. The results must be the
        same, also for a run that was killed and resumed."""
        whole = self.uninterrupted()
        for i, told in enumerate((dict(FAULT_WALL=str(40 * 365 * 86400)), dict(FAULT_CLOCK="86400"))):
            environment = {**at_call.environment("", 0), "FAULT_CLOCK": "0", **told}
            out, cut = self.path(f"{i}.h5"), self.path(f"{i}.cut.h5")
            done = self.run_program(*RUN, "-o", out, env=environment)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual({table: rows(out, table) for table in whole}, whole)
            at_call.killed((*RUN, "-o", cut), "rename", 3)
            self.assertEqual(self.run_program(*RUN, "-o", cut, "--resume", env=environment).returncode, 0)
            self.assertEqual({table: rows(cut, table) for table in whole}, whole)
            self.assertEqual(self.run_program("info", cut).returncode, 0)

if __name__ == "__main__":
    unittest.main()
