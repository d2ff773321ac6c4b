# SPDX-License-Identifier: Apache-2.0
"""Mean ranks of layers over tasks, and their critical difference."""
import os
import sys
import unittest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path[:0] = [ROOT, os.path.join(ROOT, "reports", "python")]
from reports import ranks  # noqa: E402
from reports.figures import runs  # noqa: E402
from reports.records import Blank, Cell, Matrix  # noqa: E402


def matrix_of(scores, direction=1):
    """{(layer, task): mean} as a matrix."""
    cells = {
        (layer, task): Cell("", task, layer, "ok", "", "accuracy", direction, 5, mean, 0.0, {})
        for (layer, task), mean in scores.items()
    }
    layers, tasks = sorted({layer for layer, _ in scores}), sorted({task for _, task in scores})
    for layer in layers:
        for task in tasks:
            cells.setdefault((layer, task), Blank("skipped", "no state"))
    return Matrix(tasks, [("family", layer) for layer in layers], cells, {}, {})


SCORES = {("a", "t1"): 0.9, ("b", "t1"): 0.5, ("c", "t1"): 0.5, ("a", "t2"): 0.2, ("b", "t2"): 0.3, ("c", "t2"): 0.1,
          ("a", "t3"): 1.0, ("b", "t3"): 0.9, ("c", "t3"): 0.8}


class RanksOverTasks(unittest.TestCase):
    def test_by_hand_with_a_tie(self):
        found = ranks.over_tasks(matrix_of(SCORES))
        self.assertEqual(found.layers, ["a", "b", "c"])  # a: 1, 2, 1; b: 2.5, 1, 2; c: 2.5, 3, 3
        for mean, expected in zip(found.means, (4 / 3, 5.5 / 3, 8.5 / 3)):
            self.assertAlmostEqual(mean, expected)

    def test_smaller_is_better_where_the_headline_says_so(self):
        self.assertEqual(ranks.over_tasks(matrix_of(SCORES, -1)).layers, ["c", "b", "a"])

    def test_critical_values_of_the_table(self):
        """Demsar 2006, Table 5 (a): q at 0.05 for 2, 5 and 10 classifiers, divided by sqrt 2."""
        for layers, q in ((2, 1.960), (5, 2.728), (10, 3.164)):
            self.assertAlmostEqual(ranks.studentized_range(layers) / 2**0.5, q, delta=0.001)
        self.assertAlmostEqual(ranks.critical_difference(4, 14), 2.569 * (4 * 5 / 6 / 14) ** 0.5, delta=0.002)

    def test_a_layer_without_a_value_is_left_out_and_named(self):
        scores = {**SCORES, **{(f"x{i}", t): 0.5 for i in range(20) for t in ("t1", "t2", "t3")}}
        scores.pop(("c", "t2"))
        found = ranks.over_tasks(matrix_of(scores))
        self.assertEqual(found.left_out, ["c"])
        self.assertNotIn("c", found.layers)

    def test_two_tasks_are_too_few(self):
        self.assertIsNone(ranks.over_tasks(matrix_of({k: v for k, v in SCORES.items() if k[1] != "t3"})))
        self.assertIsNone(ranks.over_tasks(None))

    def test_the_figure_names_every_layer(self):
        figure = runs.mean_ranks(ranks.over_tasks(matrix_of(SCORES)))
        named = [label.get_text() for label in figure.axes[0].get_yticklabels()]
        self.assertEqual(sorted(named), ["a", "b", "c"])


if __name__ == "__main__":
    unittest.main()
