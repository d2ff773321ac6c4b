# SPDX-License-Identifier: Apache-2.0
"""recollect.load: files as frames, one file or several."""
import os
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "reports" / "python"), str(ROOT / "tests" / "reports")]

import recollect  # noqa: E402
import synthetic  # noqa: E402


class Load(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.runs, self.more, self.verdicts = (os.path.join(folder.name, name) for name in ("r.h5", "s.h5", "v.h5"))
        chosen = dict(params={"recall": {"n": 4}, "linear": {"scale": 1.0}}, chosen={("linear", "scale"): 0.25})
        synthetic.write_cases(self.runs, synthetic.seeded([0.5, 0.75], variant="linear", **chosen))
        synthetic.write_cases(self.more, synthetic.seeded([0.1], variant="rls", params={"recall": {"n": 8}}))
        synthetic.write_claims(self.verdicts, [("additive", "linear")], count=80, kernels=("linear",))

    def test_a_row_per_case_and_metric_with_what_tuning_chose(self):
        runs = recollect.load(self.runs).runs
        self.assertEqual(list(zip(runs["seed"], runs["value"])), [(1, 0.5), (2, 0.75)])
        self.assertEqual((list(runs["task.n"]), list(runs["linear.scale"])), ([4, 4], [0.25, 0.25]))
        self.assertNotIn("file", runs)

    def test_a_case_without_parameters_is_a_row(self):
        synthetic.write_cases(self.runs, synthetic.seeded([0.5], variant="linear"))
        self.assertEqual(list(recollect.load(self.runs).runs["value"]), [0.5])

    def test_several_files_are_told_apart_by_a_column(self):
        both = recollect.load(self.runs, self.more, self.verdicts)
        found = list(zip(both.runs["file"], both.runs["variant"], both.runs["value"]))
        self.assertEqual(found, [(self.runs, "linear", 0.5), (self.runs, "linear", 0.75), (self.more, "rls", 0.1)])
        self.assertEqual(list(both.runs["task.n"]), [4, 4, 8])
        self.assertTrue(both.runs["linear.scale"].isna().tolist() == [False, False, True])
        self.assertEqual(list(both.files["file"]), [self.runs, self.more, self.verdicts])
        self.assertEqual((len(both.claims), set(both.claims["file"])), (80, {self.verdicts}))
        self.assertTrue(both.bench.empty and both.trained.empty)

    def test_the_example_of_claims(self):
        """The example in the module's documentation."""
        query = "verdict == 'refuted' and source.str.startswith('004')"
        example = next(line for line in recollect.results.__doc__.splitlines() if query in line)
        r = recollect.load(self.verdicts)
        shown = eval(example)
        told = [(c, s) for c, s, v in zip(r.claims["claim"], r.claims["source"], r.claims["verdict"]) if v == "refuted"]
        self.assertEqual(list(zip(shown["claim"], shown["source"])), [(c, s) for c, s in told if s.startswith("004")])
        self.assertTrue(len(shown) and len(shown) < len(told))

    def test_a_repr_is_a_line_per_frame_that_has_rows(self):
        lines = repr(recollect.load(self.runs)).splitlines()
        self.assertEqual(lines[0], f"recollect results of {self.runs}")
        self.assertEqual([line.split()[0] for line in lines[1:]], [".runs", ".samples"])
        self.assertIn("2 rows: case, variant, family", lines[1])
        self.assertTrue(all(len(line) < 100 for line in lines[1:]))

    def test_other_files_are_refused_in_a_line(self):
        other = self.runs + ".txt"
        pathlib.Path(other).write_text("no HDF5")
        with self.assertRaisesRegex(ValueError, "is not a readable HDF5 file"):
            recollect.load(self.runs, other)
        with self.assertRaisesRegex(FileNotFoundError, "no such file"):
            recollect.load("nowhere.h5")


if __name__ == "__main__":
    unittest.main()
