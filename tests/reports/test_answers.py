# SPDX-License-Identifier: Apache-2.0
"""What the first page recommends, and when it recommends nothing."""
import unittest

from pages import ReportCase  # noqa: I001: finds the modules below
from reports import command as report
from reports import matrix
from reports.figures import runs as run_figures
from reports.site import answers
import own_reader as own
import synthetic
from synthetic import seeded

NAN = float("nan")


class Answers(ReportCase):
    def answered(self, cases, task="recall"):
        synthetic.write_cases(self.runs, cases)
        found = {t: (good, text) for t, good, text in answers.answers(report.load([self.runs]).matrix)}
        return found.get(task)

    def sweep(self):
        """Two layers over n = 2, 4, 8; at n = 2 both recall everything."""
        at = {2: (1.0, 1.0), 4: (0.9, 1.0), 8: (0.3, 0.95)}
        return [
            case
            for n, means in at.items()
            for layer, mean, size in (("linear", means[0], 512.0), ("softmax", means[1], 4096.0))
            for case in seeded(
                [mean, mean], variant=layer, params={"recall": {"n": n}}, chance=1 / n, state_bytes=size * n
            )
        ]

    def test_a_sweep_ran_and_is_no_answer(self):
        good, text = self.answered(self.sweep())
        self.assertFalse(good)
        self.assertIn("3 settings", text)
        index = self.written(self.runs)
        self.says(index, "6 of 6 cases (a layer on a task at one setting) ran.")
        self.assertNotIn("512 bytes", index.text)
        self.assertNotIn("cost_recall", self.page("tasks/recall.html").source)  # otherwise n = 2 would rank above n = 8
        self.assertIn("sweep_recall", self.page("tasks/recall.html").source)

    def test_a_sweep_does_not_hide_the_matrix(self):
        matrix = [
            dict(c, experiment="matrix", params={"recall": {"n": 32}})
            for layer, x in (("linear", 0.5), ("softmax", 0.9))
            for c in seeded([x, x + 0.02], variant=layer, state_bytes=1024.0 * (1 + (layer == "softmax")))
        ]
        good, text = self.answered(matrix + self.sweep())
        self.assertEqual((good, text), (True, "linear 0.51 at 1\u202f024 bytes, softmax 0.91 at 2\u202f048 bytes"))

    def test_layers_at_different_settings_are_not_compared(self):
        cases = [
            c
            for layer, n in (("linear", 4), ("softmax", 8))
            for c in seeded([0.5, 0.6], variant=layer, params={"recall": {"n": n}})
        ]
        good, text = self.answered(cases)
        self.assertEqual((good, "2 settings" in text), (False, True))

    def test_layers_at_one_state_size_are_compared(self):
        """--state-bytes chooses the widths of each layer, which are then no setting."""
        cases = [
            c
            for layer, width, mean, size in (("linear", 64, 0.9, 32768.0), ("rls", 45, 0.8, 32400.0), ("softmax", 16, 0.95, 32768.0))
            for c in seeded([mean, mean + 0.02], variant=layer, params={"recall": {"n": 128, "d": width, "dv": width}}, state_bytes=size)
        ]
        synthetic.write_cases(self.runs, cases, command="recollect run --state-bytes 32K --set n=128")
        (task, good, text) = answers.answers(report.load([self.runs]).matrix)[0]
        self.assertEqual((task, good), ("recall", True))
        self.assertEqual(text, "rls 0.81 at 32\u202f400 bytes, softmax 0.96 at 32\u202f768 bytes")
        self.written(self.runs)
        page = self.page("tasks/recall.html")
        self.says(page, "d = 16, dv = 16")
        self.assertNotIn("sweep_recall", page.source)
        heads, rows, _ = next(t for t in own.page_tables(page.source) if t[0][0] == "layer")
        self.assertNotIn("settings", heads)
        self.assertEqual([row[0] for row in rows], ["softmax", "linear", "rls"])

    def test_what_a_guess_reaches_is_not_recommended(self):
        """On recall hgrn reaches 0.047 and a guess 0.031, which is two standard errors less; on regression hgrn reaches 1.1 and
        a guess 1."""
        cases = seeded(
            [0.04, 0.05, 0.052, 0.03], variant="hgrn", chance=0.031, state_bytes=64.0
        )  # 0.043, standard error 0.005: 2.4 standard errors above a guess
        # 0.038, standard error 0.008
        near = seeded([0.02, 0.05, 0.052, 0.03], variant="lru", chance=0.031, state_bytes=32.0)
        none = seeded([0.031, 0.031, 0.031, 0.031], variant="mamba", chance=0.031, state_bytes=16.0)
        self.assertEqual(self.answered(cases + near + none), (True, "hgrn 0.043 at 64 bytes"))
        self.assertEqual(
            self.answered(near + none),
            (False, "no layer that is written to is two standard errors better than a guess"),
        )
        worse = [
            dict(
                c,
                task="online_regression",
                headline="loss_late",
                better="smaller",
                chance=1.0,
                ceiling=0.0,
                metrics={"loss_late": 1.1 + c["seed"] / 1e4},
            )
            for c in cases
        ]
        better = [
            dict(c, variant="delta_net", state_bytes=128.0, metrics={"loss_late": 0.5 + c["seed"] / 1e4}) for c in worse
        ]
        self.assertEqual(self.answered(worse + better, "online_regression"), (True, "delta_net 0.5 at 128 bytes"))

    def test_persistent_memories_stand_apart(self):
        written = seeded([0.5, 0.52], variant="linear", state_bytes=2048.0)
        fixed = seeded([0.9, 0.92], variant="ffn_relu", family="persistent memory", state_bytes=1024.0)
        good, text = self.answered(written + fixed)
        self.assertEqual(
            (good, text),
            (
                True,
                "linear 0.51 at 2\u202f048 bytes; with fixed weights, to which nothing is written: "
                "ffn_relu 0.91 at 1\u202f024 bytes",
            ),
        )

    def test_a_front_names_what_the_answer_may_name(self):
        cases = [
            *seeded([0.10, 0.12], variant="hgrn", state_bytes=8.0, flops=8.0),  # a guess has 0.1
            *seeded([0.7, 0.72], variant="ffn_relu", family="persistent memory", state_bytes=16.0, flops=16.0),
            *seeded([0.5, 0.52], variant="linear", state_bytes=32.0, flops=32.0),
            *seeded([0.9, 0.92], variant="softmax", state_bytes=64.0, flops=64.0),
        ]
        synthetic.write_cases(self.runs, cases)
        for ax in run_figures.against_cost(matrix.ranked(report.load([self.runs]).matrix, "recall")).axes:
            self.assertEqual(ax.get_xlabel().split("\n")[1], "1 linear,  2 softmax")

    def test_untuned_layers_and_single_seeds_answer_nothing(self):
        two = [c for layer in ("linear", "softmax") for c in seeded([0.5, 0.6], variant=layer, setting="untuned")]
        good, text = self.answered(two)
        self.assertEqual((good, "--tune" in text), (False, True))
        self.assertFalse(self.answered([dict(c, setting="tuned") for c in two if c["seed"] == 1])[0])
        self.assertTrue(self.answered([dict(c, setting="tuned") for c in two])[0])

    def test_an_untuned_matrix_says_so_in_its_titles(self):
        for setting in ("untuned", "tuned"):
            synthetic.write_cases(
                self.runs,
                [c for layer in ("linear", "softmax") for c in seeded([0.5, 0.6], variant=layer, setting=setting)],
            )
            self.written(self.runs)
            for page, title in (("layers.html", "Layers on tasks, untuned"), ("tasks/recall.html", "Layers, untuned")):
                self.assertEqual(title in self.page(page).text, setting == "untuned", (page, setting))


if __name__ == "__main__":
    unittest.main()
