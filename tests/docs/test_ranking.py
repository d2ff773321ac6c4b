# SPDX-License-Identifier: Apache-2.0
"""docs/ranking.py makes a table of what `recollect run --state-bytes` prints; here it is compared with the results file."""
import csv
import itertools
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import unittest

import h5py

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"
sys.path.insert(0, str(DOCS))
import render  # noqa: E402
import rendering  # noqa: E402

LAYERS = ("linear", "rls", "softmax")


def values(path):
    """{layer: accuracy by seed} of the final cases."""
    with h5py.File(path) as file:
        plan = {row["case"]: row for row in file["plan"][()] if row["setting"] != b"trial"}
        found = {}
        for row in file["metrics"][()]:
            if row["case"] in plan and row["metric"] == b"accuracy":
                case = plan[row["case"]]
                found.setdefault(case["variant"].decode(), {})[case["seed"]] = row["value"]
    return {layer: [x for _, x in sorted(mine.items())] for layer, mine in found.items()}


def p_of(differences):
    """The share of all patterns of signs whose sum is as far from 0."""
    least = abs(sum(differences)) - 1e-12
    sums = [abs(sum(s * d for s, d in zip(signs, differences))) for signs in itertools.product((1, -1), repeat=len(differences))]
    return sum(x >= least for x in sums) / len(sums)


class Ranking(unittest.TestCase):
    def test_the_table_has_the_numbers_of_the_results_file(self):
        with tempfile.TemporaryDirectory() as folder:
            results, table = os.path.join(folder, "r.h5"), os.path.join(folder, "t.csv")
            words = ["run", "--state-bytes", "2K", "--variants", ",".join(LAYERS), "--set", "n=16", "--set", "memories=8"]
            done = subprocess.run([os.environ["RECOLLECT_PROGRAM"], *words, "-o", results], check=True, capture_output=True, text=True)
            made = subprocess.run([sys.executable, str(DOCS / "ranking.py"), "the command", "where"], input=done.stdout,
                                  check=True, capture_output=True, text=True).stdout  # fmt: skip
            pathlib.Path(table).write_text(made)
            origin, rows = rendering.read(table)
            accuracy = values(results)
        self.assertEqual(origin[0][: origin[0].index("(")], "the command ")
        self.assertIn("10 seeds", origin[0])
        self.assertEqual(origin[1], "where")
        means = {layer: statistics.mean(mine) for layer, mine in accuracy.items()}
        self.assertEqual([row["layer"] for row in rows], sorted(LAYERS, key=lambda layer: -means[layer]))
        self.assertEqual({row["layer"]: row["d"] for row in rows}, dict(linear="16", rls="11", softmax="8"))
        best = accuracy[rows[0]["layer"]]
        for row in rows:
            mine = accuracy[row["layer"]]
            self.assertEqual(row["accuracy"], f"{means[row['layer']]:.3g}")
            self.assertEqual(row["standard error"], f"{statistics.stdev(mine) / len(mine) ** 0.5:.3g}")
            if row["rank"] != "1":
                differences = [a - b for a, b in zip(best, mine)]
                self.assertEqual(row["behind the first [95%]"].split(" [")[0], f"{statistics.mean(differences):.3g}")
                self.assertEqual(row["p"], f"{p_of(differences):.3g}")
                self.assertGreaterEqual(float(row["q"]), float(row["p"]))
        self.assertEqual([rows[0][name] for name in ("behind the first [95%]", "p", "q")], ["", "", ""])

    def test_another_output_is_refused(self):
        done = subprocess.run([sys.executable, str(DOCS / "ranking.py"), "x"], input="4 ok\n", capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1))

    def test_the_page_says_which_layers_do_not_differ(self):
        _, (first, *others) = render.read("state-32k.csv")
        said = " ".join(render.ranking("state-32k")).partition(" | ")[0]
        equal = [row["layer"] for row in others if float(row["q"]) > 0.05]
        self.assertIn(f"Of the other {len(others)} layers, {len(equal)} do not differ significantly from {first['layer']}", said)
        for layer in equal if len(equal) < len(others) else ():
            self.assertIn(layer, said)


if __name__ == "__main__":
    unittest.main()
