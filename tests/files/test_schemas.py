# SPDX-License-Identifier: Apache-2.0
"""info, diff and report read files of every older schema_version (the report has more tests in tests/reports)."""
import os
import subprocess
import sys
import tempfile
import unittest

import h5py
import numpy as np

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "reports"))
import synthetic  # noqa: E402

PROGRAM = os.environ["RECOLLECT_PROGRAM"]


class Schemas(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.one, self.other = (os.path.join(folder.name, name) for name in ("a.h5", "b.h5"))

    def says(self, words, *arguments, status=0):
        done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (status, ""))
        self.assertIn(words, done.stdout)

    def test_version_1_has_verdicts_beside_points_only(self):
        for path in self.one, self.other:
            synthetic.write_first_edition(path)
        self.says("rows of /claims", "info", self.one)
        self.says("1 compared, 0 changed", "diff", self.one, self.other, "--gate")
        with h5py.File(self.other, "a") as f:
            claims = f["claims"][()]
            claims["claim_verdict"], claims["passed"] = b"holds", 0
            f["claims"][...] = claims
        self.says("verdict old: refuted -> holds (failed)", "diff", self.one, self.other, "--gate", status=1)

    def test_version_2_has_texts_of_fixed_width(self):
        variants = synthetic.write_runs(self.one, steps=12, families=synthetic.SMALL)
        synthetic.write_claims(self.other, variants[:2], count=12)
        self.says("1 planned, not recorded" if len(variants) > 17 else "nothing", "info", self.one)
        self.says("0 changed", "diff", self.one, self.one)
        self.says("12 compared, 0 changed", "diff", self.other, self.other)

    def test_version_3_has_no_digest(self):
        self.says("1 ok", "run", "--variants", "linear", "--tasks", "recall", "--seeds", "1", "-o", self.one)
        with h5py.File(self.one, "a") as f:
            self.assertEqual(int(f.attrs["schema_version"]), 5)
            f.attrs["schema_version"] = np.int32(3)
            del f.attrs["digest"]
        self.says("nothing", "info", self.one)

    def test_version_4_has_one_and_versions_after_5_are_refused(self):
        self.says("1 ok", "run", "--variants", "linear", "--tasks", "recall", "--seeds", "1", "-o", self.one)
        for version, message in ((4, "damaged"), (5, "damaged"), (6, "reads up to 5"), (0, "no results file")):
            with h5py.File(self.one, "a") as f:
                f.attrs["digest"] = np.uint64(1)
                f.attrs["schema_version"] = np.int32(version)
            done = subprocess.run([PROGRAM, "info", self.one], capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr.count("\n")), (3, 1))
            self.assertIn(message, done.stderr)


if __name__ == "__main__":
    unittest.main()
