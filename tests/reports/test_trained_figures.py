# SPDX-License-Identifier: Apache-2.0
"""Windows of learning rates, and accuracy against the bytes of the state."""
import unittest

import pages  # noqa: F401, I001: finds the modules below
from reports import trainings
from reports.figures import runs, trained
from reports.records import Cell, Results, Trained


def model(mixer, rate, seed, accuracy, state=None, experiment="e", **settings):
    settings = dict(task="zoology", mixer=mixer, lr=rate, vocabulary=16, pairs=4.0, length=16.0, **settings)
    return Trained(experiment=experiment, mixer=mixer, seed=seed, status="ok", accuracy=accuracy, loss=1, chance=0.25,
                   settings=settings, metrics={} if state is None else {"state_bytes": state})  # fmt: skip


def experiments(models):
    return trainings.experiments(Results(trainings=models))


class Windows(unittest.TestCase):
    def windows(self, accuracies, rates=(0.001, 0.01, 0.1, 1.0)):
        (found,) = experiments([model("vla", rate, seed, a) for rate, a in zip(rates, accuracies) for seed in (1, 2)])
        return trained.windows(found), trained.against_rate(found)

    def test_a_window_is_the_rates_next_to_the_best_that_are_nearly_as_good(self):
        for accuracies, low, high, is_open in (
            ((0.1, 0.9, 1.0, 0.5), 0.01, 0.1, False),
            ((0.1, 0.89, 1.0, 0.5), 0.1, 0.1, False),
            ((0.95, 0.5, 1.0, 0.9), 0.1, 1.0, True),  # a rate beyond a bad one is not in it
        ):
            (window,), _ = self.windows(accuracies)
            self.assertEqual((window.low, window.high, window.is_open()), (low, high, is_open))
            self.assertAlmostEqual(window.width(), high / low)

    def test_two_rates_or_no_accuracy_have_no_window(self):
        self.assertEqual(self.windows((0.5, 1.0), (0.01, 0.1)), ([], None))
        self.assertEqual(self.windows((0.0, 0.0, 0.0, 0.0)), ([], None))

    def test_the_window_is_drawn_thick(self):
        _, figure = self.windows((0.1, 0.9, 1.0, 0.5))
        thick = [line for line in figure.axes[0].get_lines() if line.get_linewidth() == 4]
        self.assertEqual([list(line.get_xdata()) for line in thick], [[0.01, 0.1]])

    def test_a_row_has_its_rates_its_window_and_its_best(self):
        (window,), _ = self.windows((0.1, 0.9, 1.0, 0.5))
        (axes,) = trained.window_rows([("recall", window)]).axes
        self.assertEqual([list(line.get_xdata()) for line in axes.get_lines()], [[0.001, 0.01, 0.1, 1.0], [0.01, 0.1], [0.1]])
        self.assertEqual([t.get_text() for t in axes.get_yticklabels()], ["vla: recall"])


class States(unittest.TestCase):
    def test_layers_of_all_experiments_on_the_same_texts_share_a_panel_at_their_best_rates(self):
        models = [model(m, rate, 1, a, state, experiment=e, width=state)
                  for e, m, rate, a, state in (("e", "linear", 0.01, 0.2, 64.0), ("e", "linear", 0.1, 0.4, 64.0),
                                               ("e", "linear", 0.1, 0.6, 128.0), ("f", "vla", 0.1, 0.5, 128.0),
                                               ("f", "vla", 0.1, 0.9, 256.0))]  # fmt: skip
        found = experiments(models)
        ((texts, layers),) = trained.sized(found).items()
        self.assertEqual([(one.mixer, one.state, one.row.mean) for one in layers],
                         [("linear", 64, 0.4), ("linear", 128, 0.6), ("vla", 128, 0.5), ("vla", 256, 0.9)])  # fmt: skip
        (axes,) = trained.against_state(found).axes
        self.assertEqual(list(axes.get_lines()[-1].get_xdata()), [64, 128, 256])  # the front leaves vla at 128 out
        self.assertIn("pairs = 4", texts)

    def test_keys_of_two_tokens_have_a_panel_of_their_own(self):
        models = [model(m, 0.1, 1, 0.5, state, width=state, key_length=tokens)
                  for tokens in (1.0, 2.0) for m in ("linear", "vla") for state in (64.0, 128.0)]  # fmt: skip
        one, two = trained.sized(experiments(models))
        self.assertNotIn("key_length", one)
        self.assertIn("key_length = 2", two)

    def test_models_of_one_size_have_no_figure(self):
        self.assertIsNone(trained.against_state(experiments([model("linear", 0.1, 1, 0.4, 64.0), model("vla", 0.1, 1, 0.5, 64.0)])))
        self.assertIsNone(trained.against_state(experiments([model("linear", 0.1, 1, 0.4)])))

    def test_the_front_of_untrained_layers_is_of_those_that_no_smaller_state_beats(self):
        def cell(variant, size, mean, family="other"):
            return Cell("", "recall", variant, "ok", "tuned", "accuracy", 1, 3, mean, 0.01, {}, family=family, chance=0.1,
                        state_bytes=size, values=[mean] * 3)  # fmt: skip

        cells = [cell("small", 64, 0.5), cell("worse", 128, 0.4), cell("larger", 128, 0.9), cell("equal", 128, 0.9),
                 cell("guess", 32, 0.1), cell("fixed", 16, 1.0, "persistent memory")]  # fmt: skip
        self.assertEqual(runs.on_front(cells), {"small", "larger", "equal"})


class Words(unittest.TestCase):
    def test_a_row_has_the_lengths_of_its_seeds_at_the_best_rate(self):
        models = []
        for group, beta, rate, lengths in (("parity", 1.0, 0.1, (3, 5)), ("parity", 2.0, 0.1, (90, 110)),
                                           ("parity", 2.0, 0.01, (200, 400)), ("S3", 2.0, 0.1, (10, 20))):  # fmt: skip
            for seed, length in enumerate(lengths):
                one = model("delta_net", rate, seed, 0.5, group=group, beta_below=beta)
                one.metrics["length"] = length
                models.append(one)
        figure = trained.against_words(experiments(models))
        self.assertEqual([ax.get_title(loc="left") for ax in figure.axes if ax.get_visible()], ["parity", "S3"])
        parity = figure.axes[0]
        self.assertEqual([list(line.get_xdata()) for line in parity.get_lines()[:2]], [[3, 5], [200, 400]])
        self.assertEqual([t.get_text() for t in parity.get_yticklabels()],
                         ["delta_net, beta_below = 1", "delta_net, beta_below = 2"])  # fmt: skip
        self.assertIsNone(trained.against_words(experiments([model("linear", 0.1, 1, 0.4)])))


if __name__ == "__main__":
    unittest.main()
