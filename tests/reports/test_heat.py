# SPDX-License-Identifier: Apache-2.0
"""Heat maps of runs."""
import math
import unittest

import numpy as np

import pages  # noqa: F401, I001: finds the modules below
from reports.figures import heat
from reports.records import Cell


def cell(variant, mean, headline="accuracy", series=None, **told):
    return Cell("e", "task", variant, "ok", "tuned", headline, 1, 2, mean, 0.01, {}, told=told, series=series or {})


class HeatMaps(unittest.TestCase):
    def test_two_swept_numbers_make_a_panel_for_every_layer(self):
        cells = [cell(layer, (T + pairs) / 1000, T=T, pairs=pairs)
                 for layer in ("linear", "softmax") for T in (64, 128, 256) for pairs in (4, 8, 16)]  # fmt: skip
        found = heat.over_parameters(cells[:-1])  # softmax did not run at T = 256 with 16 pairs
        self.assertEqual([(p.title, p.x, p.xs, p.y, p.ys) for p in found],
                         [(layer, "T", [64, 128, 256], "pairs", [4, 8, 16]) for layer in ("linear", "softmax")])  # fmt: skip
        self.assertEqual(found[0].values[2], [0.08, 0.144, 0.272])
        self.assertTrue(math.isnan(found[1].values[2][2]))
        figure = heat.heat_maps(cells[:-1])
        self.assertEqual([len(ax.texts) for ax in figure.axes], [9, 8])  # the number in every field

    def test_other_settings_are_panels_of_their_own(self):
        cells = [cell("linear", 0.5, T=T, pairs=pairs, kind=kind)
                 for T in (1, 2, 3) for pairs in (4, 5, 6) for kind in ("a", "b")]  # fmt: skip
        self.assertEqual([p.title for p in heat.over_parameters(cells)], ["linear, kind = a", "linear, kind = b"])

    def test_a_needle_is_shown_by_its_place(self):
        curve = np.array([i / 16 for i in range(16)])
        cells = [cell("linear", 0.5, series={"accuracy_by_depth": [curve, curve]}, T=T) for T in (64, 128, 256)]
        (panel,) = heat.over_depth(cells)
        self.assertEqual((panel.xs, panel.ys[0], len(panel.ys)), ([64, 128, 256], 1 / 16, 8))
        self.assertEqual(panel.values[1], [2.5 / 16] * 3)  # the mean of places 2 and 3
        self.assertEqual(heat.heat_maps(cells).axes[0].get_ylabel(), "place in the text")

    def test_one_swept_number_or_another_metric_has_none(self):
        self.assertIsNone(heat.heat_maps([cell("linear", 0.5, T=T) for T in (64, 128, 256)]))
        grid = [(T, pairs) for T in (64, 128, 256) for pairs in (4, 8, 16)]
        self.assertIsNone(heat.heat_maps([cell("linear", 0.5, "mse", T=T, pairs=pairs) for T, pairs in grid]))


if __name__ == "__main__":
    unittest.main()
