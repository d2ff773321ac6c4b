# SPDX-License-Identifier: Apache-2.0
"""Each layer has one look in every figure of a report, and no two layers share one."""
import glob
import os
import unittest

import h5py
from pages import ReportCase  # noqa: I001: finds the modules below
from reports.figures import curves, ledger
from reports import command as report
from reports.figures import runs as run_figures
from reports.figures import style
import synthetic
from reports import trainings
from test_trainings import experiment, run

VARIANTS = os.path.join(os.path.dirname(__file__), "..", "..", "variants", "*.cpp")
NAMES = sorted(os.path.basename(path)[:-4] for path in glob.glob(VARIANTS))


def drawn(figure):
    """{label: (colour, dash, marker)} of the lines of every panel."""
    found = {}
    for ax in figure.axes:
        lines = {c.get_label(): c[0] for c in ax.containers} or {line.get_label(): line for line in ax.get_lines()}
        for label, line in lines.items():
            look = (line.get_color(), str(line._unscaled_dash_pattern[1]), line.get_marker())
            assert found.setdefault(label, look) == look, f"{label} has two looks"
    return found


class Looks(ReportCase):
    def test_labels_of_a_short_log_axis_do_not_overlap(self):
        figure, (ax,) = style.panels(1, 1)
        ax.plot([1280, 2048, 2560], [1, 2, 3])
        ax.set_xscale("log")
        text = style.rendered(figure)
        low, high = ax.get_xlim()
        ticks = [t for t in ax.xaxis.get_minor_ticks() + ax.xaxis.get_major_ticks() if low <= t.get_loc() <= high]
        labels = [t.label1.get_text() for t in ticks if t.label1.get_text()]
        self.assertEqual(labels, ["1.4×10³", "1.8×10³", "2.2×10³", "2.6×10³"])
        self.assertTrue(all(label in text for label in labels))

    def test_no_two_layers_share_colour_and_dash(self):
        style.assign_looks(NAMES)
        looks = [style.look(name) for name in NAMES]
        self.assertGreater(len(NAMES), 50)
        self.assertEqual(len({(look["color"], look["linestyle"]) for look in looks}), len(NAMES))
        self.assertEqual(len({look["color"] for look in looks[:8]}), 8)
        for i, one in enumerate(
            looks[:12]
        ):  # either the marker differs in addition to colour and dash, or the colours differ
            for other in looks[:i]:
                self.assertNotEqual((one["color"], one["linestyle"]), (other["color"], other["linestyle"]))
                self.assertNotEqual((one["color"], one["marker"]), (other["color"], other["marker"]))

    def test_variations_of_a_layer_differ_from_one_another_and_from_others(self):
        style.assign_looks(NAMES)
        looks = [style.look(name, i) for name in NAMES for i in range(4)]
        self.assertEqual(len({tuple(map(str, look.values())) for look in looks}), len(looks))

    def test_a_layer_looks_alike_in_every_figure(self):
        layers = NAMES[:12]
        cases = [
            c
            for n in (4, 8, 16, 32)
            for layer in layers
            for c in synthetic.seeded([1 / n, 1.1 / n], variant=layer, params={"recall": {"n": n, "d": 16, "dv": 16}})
        ]
        synthetic.write_cases(self.runs, cases)
        results = report.load([self.runs])
        trained = experiment([run(layer, 0.01, seed, 0.5) for layer in layers for seed in (1, 2)])
        figures = [
            run_figures.by_load(results.cells),
            run_figures.experiment(results.cells),
            trainings.curves(trained),
        ]
        looks = [
            {name.split(" at ")[0]: look for name, look in drawn(f).items() if name.split(" at ")[0] in layers}
            for f in figures
        ]
        self.assertEqual([sorted(found) for found in looks], [layers] * 3)  # none is left out
        self.assertEqual(looks[0], looks[1])
        self.assertEqual(looks[0], looks[2])
        self.assertEqual(len({look[:2] for look in looks[0].values()}), 12)

    def test_layers_of_a_sweep_have_colours_of_their_own_beside_the_matrix(self):
        matrix = [dict(variant=layer, task="swap", headline="state_accuracy", experiment="matrix",
                       metrics={"state_accuracy": 0.5}) for layer in NAMES]  # fmt: skip
        swept = [dict(variant=layer, params={"recall": {"n": n}}) for n in (4, 8) for layer in NAMES[:48:8]]
        synthetic.write_cases(self.runs, matrix + swept)
        report.load([self.runs])
        self.assertEqual(len({style.look(layer)["color"] for layer in NAMES[:48:8]}), 6)

    def test_equal_curves_show_as_stripes(self):
        cases = [
            c
            for n in (4, 8, 16)
            for layer in ("delta_net", "gated_delta_net", "kda")
            for c in synthetic.seeded([1 / n, 1.1 / n], variant=layer, params={"recall": {"n": n, "d": 16, "dv": 16}})
        ]
        synthetic.write_cases(self.runs, cases)
        results = report.load([self.runs])
        for figure in (run_figures.by_load(results.cells), run_figures.experiment(results.cells)):
            widths = [c[0].get_linewidth() for c in figure.axes[0].containers]
            self.assertEqual((len(widths), widths), (3, sorted(set(widths), reverse=True)))

    def test_what_a_panel_has_no_room_for_is_on_another(self):
        cases = [
            c
            for n in (4, 8)
            for layer in NAMES[:30]
            for c in synthetic.seeded([0.5, 0.6], variant=layer, params={"recall": {"n": n}})
        ]
        synthetic.write_cases(self.runs, cases)
        self.assertEqual(sorted(drawn(run_figures.experiment(report.load([self.runs]).cells))), NAMES[:30])

    def test_curves_are_those_of_comparable_cells(self):
        """Means over several settings of a task are not drawn as a layer's curve."""
        synthetic.write_runs(self.runs, steps=12, families=synthetic.SMALL)
        self.assertIsNotNone(curves.swap_accuracy(report.load([self.runs])))
        with h5py.File(self.runs, "a") as file:
            rows = file["parameters"][()]
            rows["value"][(rows["owner"] == b"swap") & (rows["name"] == b"n") & (rows["case"] % 2 == 0)] = 99
            file["parameters"][...] = rows
        self.assertIsNone(curves.swap_accuracy(report.load([self.runs])))

    def test_what_is_said_under_the_panels_hides_nothing(self):
        """A note that lists many layers is below every legend."""
        synthetic.write_runs(self.runs, steps=12, families={"gated": 7, "delta rule": 7})
        for figure in map(lambda draw: draw(report.load([self.runs])), (curves.swap_accuracy, curves.regression_loss)):
            renderer = figure.canvas.get_renderer()
            (note,) = figure.texts
            top = note.get_window_extent(renderer).y1
            for ax in figure.axes:
                if ax.get_legend():
                    self.assertLess(top, ax.get_legend().get_window_extent(renderer).y0)

    def test_titles_and_labels_of_panels_do_not_overlap(self):
        kernels = ("linear", "relu", "exp", "solu", "solu_eq17")
        synthetic.write_claims(self.verdicts, [("additive", "linear")], count=8, kernels=kernels)
        results = report.load([self.verdicts])
        for claim in results.claims:
            claim.source = "000 App A, before Eq 17 and in footnote 6"
        figure = ledger.snr_curves(results)
        figure.canvas.draw()  # places the labels
        renderer = figure.canvas.get_renderer()
        texts = [t for ax in figure.axes for t in (ax._left_title, ax.xaxis.label, ax.yaxis.label, *ax.get_yticklabels()) if t.get_text()]
        boxes = [(t.get_text(), t.get_window_extent(renderer)) for t in texts]
        self.assertGreater(len(boxes), 12)
        for i, (text, box) in enumerate(boxes):
            for other, its in boxes[:i]:
                self.assertFalse(box.overlaps(its), (text, other))


if __name__ == "__main__":
    unittest.main()
