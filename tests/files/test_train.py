# SPDX-License-Identifier: Apache-2.0
"""`recollect train`: a killed run continues with the same numbers, and the file agrees with docs/result-files.md."""
import os
import subprocess
import unittest

import at_call
import h5py
import numpy as np
from in_folder import InFolder

PROGRAM = os.environ["RECOLLECT_PROGRAM"]
SMALL = ["--set", "width=16", "--set", "heads=2", "--set", "ffn=32", "--set", "vocabulary=16", "--set", "pairs=2",
         "--set", "batch=16", "--set", "every=25", "--set", "evaluate=4", "--set", "convolution=2"]


class Train(InFolder):
    def command(self, name, *flags):
        return [PROGRAM, "train", *flags, *SMALL, "-o", self.path(name)]

    def train(self, name, *flags):
        done = subprocess.run(self.command(name, *flags), capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def tables(self, name):
        with h5py.File(self.path(name)) as f:
            return {table: f[table][()] for table in f if table != "meta"}

    def train_killed(self, name, keeps, flags):
        """Kills the training after its state was saved this many times, and resumes it. Returns how far it was: (steps made,
        points of its curve)."""
        partial = self.path(name + ".partial")
        at_call.killed(self.command(name, *flags)[1:], "rename", keeps + 2)  # the first save is the plan's
        with h5py.File(partial) as f:
            place = int(f["training_state"][0]["value"]), len(f["training_curves"])
        self.train(name, *flags, "--resume")
        return place

    def test_a_killed_run_resumes_to_the_same_numbers(self):
        flags = ["--set", "mixer=delta_net", "--set", "keys=unit", "--set", "steps=600"]
        self.train("whole.h5", *flags)
        step, points = self.train_killed("killed.h5", 10, flags)
        self.assertTrue(100 < step < 500 and points == step // 25 and step % 25, step)
        a, b = self.tables("whole.h5"), self.tables("killed.h5")
        np.testing.assert_array_equal(a["training_curves"], b["training_curves"])
        self.assertEqual(a["training_curves"]["step"].tolist(), list(range(25, 601, 25)))
        for column in "run", "status", "loss", "accuracy", "chance":
            self.assertEqual(a["trained"][column].tolist(), b["trained"][column].tolist())

    def test_a_killed_curriculum_resumes_to_the_same_numbers(self):
        flags = ["--set", "mixer=delta_former", "--set", "task=copy", "--set", "curriculum=0.5", "--set", "steps=600",
                 "--set", "lr=0.01"]
        self.train("whole.h5", *flags)
        step, _ = self.train_killed("killed.h5", 10, flags)
        self.assertTrue(100 < step < 500, step)
        a, b = self.tables("whole.h5"), self.tables("killed.h5")
        np.testing.assert_array_equal(a["training_curves"], b["training_curves"])
        self.assertEqual(a["trained"]["loss"].tolist(), b["trained"]["loss"].tolist())

    def test_threads_do_not_matter(self):
        flags = ["--set", "mixer=vla,softmax,gated_linear", "--set", "steps=30"]
        for threads in "1", "3":
            done = subprocess.run(self.command(threads + ".h5", *flags), capture_output=True, text=True,
                                  env={**os.environ, "OMP_NUM_THREADS": threads})
            self.assertEqual(done.returncode, 0, done.stderr)
        one, three = self.tables("1.h5"), self.tables("3.h5")
        np.testing.assert_array_equal(one["training_curves"], three["training_curves"])
        self.assertEqual(one["trained"]["loss"].tolist(), three["trained"]["loss"].tolist())

    def test_a_suite_names_its_experiments(self):
        with open(self.path("s.toml"), "w") as f:
            f.write('[[train]]\nname = "pairs"\ntitle = "Two pairs"\nseeds = 2\n'
                    'set = { mixer = ["linear", "none"], width = 16, heads = 2, ffn = 0, vocabulary = 16, pairs = 2, '
                    'batch = 4, steps = 10, every = 10, evaluate = 1 }\n')
        done = subprocess.run([PROGRAM, "train", "--suite", self.path("s.toml"), "-o", self.path("s.h5"), "--quiet"],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.count("\n"), 2)
        tables = self.tables("s.h5")
        self.assertEqual(tables["experiments"]["title"].tolist(), [b"Two pairs"])
        self.assertEqual(tables["training_plan"]["mixer"].tolist(), [b"linear"] * 2 + [b"none"] * 2)
        self.assertEqual(tables["training_plan"]["seed"].tolist(), [1, 2, 1, 2])
        parameters = {(row["run"], row["name"]): row["value"] for row in tables["training_parameters"]}
        self.assertEqual((parameters[1, b"steps"], parameters[0, b"scale"]), (10, 1))
        with open(self.path("s.toml"), "a") as f:
            f.write("tasks = 3\n")
        done = subprocess.run([PROGRAM, "train", "--suite", self.path("s.toml")], capture_output=True, text=True)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("6: tasks is not a key of [[train]]", done.stderr)

    def run_suite(self, *flags):
        done = subprocess.run([PROGRAM, "train", "--suite", self.path("s.toml"), *flags], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_statements_are_judged_then_and_later(self):
        models = ('[[train]]\nname = "pairs"\nset = { mixer = ["delta_net", "none"], keys = "unit", width = 16, heads = 2, ffn = 0, '
                  'vocabulary = 16, pairs = 2, convolution = 2, batch = 16, steps = 60, lr = 0.03, evaluate = 4 }\n')
        stated = ('statement = [ { row = "r", paper = "T 1", experiment = "pairs", above = { mixer = "%s" }, '
                  'below = { mixer = "%s" } } ]\n')
        with open(self.path("s.toml"), "w") as f:
            f.write(stated % ("delta_net", "none") + models)
        self.assertRegex(self.run_suite("-o", self.path("1.h5"), "--seeds", "3", "--quiet"), "\nholds +r +pairs ")
        row = self.tables("1.h5")["trained_statements"][0]
        self.assertEqual((row["verdict"], row["paper"], row["seeds"], row["other_seeds"]), (b"holds", b"T 1", 3, 3))
        self.assertAlmostEqual(row["p"], 1 / 20)
        self.run_suite("-o", self.path("2.h5"), "--seeds", "2", "--seed", "4", "--quiet")
        self.assertEqual(self.tables("2.h5")["trained_statements"]["verdict"].tolist(), [b"undecided"])  # 1 of 6 splits
        with open(self.path("s.toml"), "w") as f:
            f.write(stated % ("none", "delta_net") + models)
        self.assertIn("refuted", self.run_suite("--judge", self.path("1.h5"), self.path("2.h5"), "-o", self.path("all.h5")))
        joined = self.tables("all.h5")
        self.assertAlmostEqual(joined["trained_statements"][0]["p"], 1 / 252)
        self.assertEqual(sorted(joined["training_plan"]["seed"]), sorted(2 * [1, 2, 3, 4, 5]))
        parts = [self.tables(name) for name in ("1.h5", "2.h5")]
        for table in "trained", "training_curves", "training_parameters":
            self.assertEqual(len(joined[table]), sum(len(part[table]) for part in parts))
        self.assertEqual(len(set(joined["trained"]["run"])), 10)
        self.assertEqual(len(joined["experiments"]), 1)

    def test_statements_that_cannot_be_judged_train_nothing(self):
        for keys, said in (('experiment = "other", of = {}, at_least = 1', "no [[train]] is named 'other'"), ('experiment = "a", of = {}, at_least = 1', "more than one mixer"),
                           ('experiment = "a", of = {}', "either `above` and `below`, or a number")):
            with open(self.path("s.toml"), "w") as f:
                f.write('statement = [ { row = "r", %s } ]\n[[train]]\nname = "a"\nset = { mixer = ["linear", "none"] }\n' % keys)
            done = subprocess.run([PROGRAM, "train", "--suite", self.path("s.toml")], capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done.stderr)
            self.assertIn(said, done.stderr)

    def test_text_is_read_from_a_corpus(self):
        with open(self.path("c.txt"), "wb") as f:
            f.write(bytes(range(256)) * 8)
        flags = ["--set", "task=text", "--set", "context=8", "--set", "vocabulary=256", "--set", "width=8", "--set", "batch=4",
                 "--set", "steps=4", "--set", "every=2", "--quiet"]
        command = [PROGRAM, "train", *flags, "-o", self.path("c.h5"), "--corpus", self.path("c.txt")]
        done = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        texts = {row["name"]: row["text"] for row in self.tables("c.h5")["training_parameters"]}
        self.assertRegex(texts[b"corpus"].decode(), "^2048 bytes, [0-9a-f]{16}$")
        for words, status, said in ((["--set", "task=text"], 2, "vocabulary of 256"), (flags, 2, "needs --corpus"),
                                    ([*flags, "--corpus", "nowhere.txt"], 3, "nowhere.txt"),
                                    (["--corpus", self.path("c.txt")], 2, "only task=text reads"),
                                    ([*flags, "--corpus", self.path("c.txt"), "-o", self.path("c.txt")], 2, "c.txt")):
            done = subprocess.run([PROGRAM, "train", *words], capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr.count("\n")), (status, 1), done.stderr)
            self.assertIn(said, done.stderr)


if __name__ == "__main__":
    unittest.main()
