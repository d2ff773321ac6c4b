# SPDX-License-Identifier: Apache-2.0
"""Curves and tables of the page of trained models."""
import math
import unittest

import pages  # noqa: F401, I001: finds the module below
from reports import trainings
from reports.records import File, Results, Trained


def run(mixer, rate, seed, accuracy, loss=1.0, status="ok", task="mqar", **settings):
    settings = dict(task=task, mixer=mixer, lr=rate, vocabulary=16, **settings)
    curve = [(50, loss + 1, accuracy / 2), (100, loss, accuracy)] if status == "ok" else []
    return Trained(experiment="e", mixer=mixer, seed=seed, status=status, accuracy=accuracy, loss=loss, chance=0.25,
                   settings=settings, curve=curve)  # fmt: skip


def experiment(runs):
    (found,) = trainings.experiments(Results(trainings=runs))
    return found


class Trainings(unittest.TestCase):
    def test_every_layer_is_drawn_at_its_best_rate(self):
        runs = [run(m, lr, seed, accuracy, heads=heads)
                for heads in (1, 2)
                for m, best in (("linear", 0.01), ("softmax", 0.1))
                for lr in (0.01, 0.03, 0.1)
                for seed, accuracy in ((1, 0.9 if lr == best else 0.5), (2, 0.8 if lr == best else 0.6))]  # fmt: skip
        e = experiment(runs)
        self.assertEqual(len(e.rows), 12)
        drawn = {title: [(r.mixer, r.rate) for r in rows] for title, rows in trainings.panels(e).items()}
        self.assertEqual(drawn, {f"heads = {h}": [("linear", 0.01), ("softmax", 0.1)] for h in (1, 2)})
        self.assertIn("best learning rate", trainings.caption(e))
        labels = [line.get_label() for line in trainings.curves(e).axes[0].get_lines()]
        self.assertEqual(labels, ["linear at 0.01", "softmax at 0.1"])

    def test_the_measure_of_text_is_its_loss(self):
        e = experiment([run("linear", lr, seed, 0.1, loss, task="text") for lr, loss in ((0.01, 2.5), (0.03, 2.0)) for seed in (1, 2)])
        (rows,) = trainings.panels(e).values()
        self.assertEqual([(r.rate, r.loss) for r in rows], [(0.03, 2.0)])
        (axes,) = trainings.curves(e).axes
        self.assertEqual((axes.get_ylabel(), list(axes.get_lines()[0].get_ydata())), ("loss", [3.0, 2.0]))
        self.assertTrue(trainings.caption(e).startswith("Loss on"))

    def test_what_is_not_drawn_is_said(self):
        few, many = (experiment([run("linear", 0.01, 1, 0.5, pairs=p) for p in range(n)]) for n in (12, 14))
        self.assertNotIn("first", trainings.caption(few))
        self.assertIn("The first 12 of 14 settings", trainings.caption(many))
        self.assertEqual(len([ax for ax in trainings.curves(many).axes if ax.get_visible()]), 12)

    def test_a_run_that_diverged_counts_as_a_guess(self):
        e = experiment([run("vla", 0.01, 1, 0.75, 1.0), run("vla", 0.01, 2, 0.0, 0.0, "diverged"), run("vla", 0.01, 3, math.nan, math.nan, "not run")])
        (row,) = e.rows
        self.assertEqual((row.mean, row.least, row.count, row.others), (0.375, 0, 2, "1 diverged, 1 not run"))
        self.assertAlmostEqual(row.loss, (1 + math.log(16)) / 2)

    def test_the_first_line_says_what_was_varied_and_what_decides(self):
        runs = [run(m, lr, seed, 0.5, heads=2) for m in ("softmax", "linear") for lr in (0.01, 0.0003, 0.003) for seed in (1, 2)]
        self.assertEqual(
            experiment(runs).varied,
            "Varied: the layer (softmax, linear), lr (0.0003, 0.003, 0.01); 2 seeds. "
            "Compared by accuracy on held-out texts, each layer at its best rate.",
        )
        self.assertEqual(
            experiment([run("linear", 0.01, 1, 0.5, task="text")]).varied,
            "Varied: nothing but the seed; 1 seed. Compared by loss on held-out texts.",
        )

    def test_a_suite_is_called_after_its_file(self):
        files = [File(p) for p in ("a/trained_vla.h5", "v.h5", "b/vla.h5", "x/trained_.h5", "odd name!.h5")]
        results = Results(files=files, trainings=[Trained("e", "linear", 1, file=i) for i in (0, 2, 2, 3, 4)])
        self.assertEqual(trainings.suites(results), {0: "vla", 2: "vla-2", 3: "suite", 4: "odd_name_"})


if __name__ == "__main__":
    unittest.main()
