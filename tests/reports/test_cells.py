# SPDX-License-Identifier: Apache-2.0
"""How the report turns the rows of a file into cases, cells and curves."""
import dataclasses
import unittest

import numpy as np
from pages import ReportCase  # noqa: I001: finds the modules below
from reports import cells
from reports import findings
from reports import matrix
from reports import read
from reports import records
from reports import command as report
from reports.figures import runs as run_figures
import synthetic


class Cells(ReportCase):
    def test_reading(self):
        variants = synthetic.write_runs(self.runs, steps=12, families=synthetic.SMALL)
        synthetic.write_claims(self.verdicts, variants[:1], count=9)
        results = read.read([self.runs, self.verdicts, self.verdicts])
        self.assertEqual(len(results.cases), len(variants) * len(synthetic.TASKS))
        self.assertEqual(len(results.claims), 9)  # a claim measured twice counts once
        case = next(c for c in results.cases if c.task == "swap" and c.status == "ok")
        self.assertEqual(
            (case.params["swap"]["n"], len(case.series["state_accuracy_by_step"]), case.family),
            (16, 12, "additive"),
        )
        snr = results.claims[0]
        self.assertEqual(snr.points[0].params, {"kernel": "linear", "n": 16, "d": 16, "dv": 16})
        self.assertEqual(findings.decisive(snr).role, "statement")
        self.assertEqual((len(snr.points), len(snr.rivals)), (22, 7))
        self.assertEqual((snr.rivals[0].rival, snr.rivals[0].params["d"]), ("law", 16))
        self.assertEqual((snr.covers, snr.explanation), (["row-0", "row-0-b"], "Because of 0."))

    def test_matrix(self):
        variants = synthetic.write_runs(self.runs, steps=12)
        table = matrix.build(report.load([self.runs]).matrix_cells)
        counted = matrix.counts(table)
        self.assertEqual(sum(counted.values()), len(set(v for _, v in variants)) * len(synthetic.TASKS))
        self.assertEqual((counted["meaningless"], counted["failed"], counted["not run"]), (8, 1, 1))
        for (_, task), cell in table.cell.items():
            self.assertEqual(cell.headline, synthetic.TASKS[task][0])
            self.assertTrue(cell.mean == cell.mean if cell.status == "ok" else cell.reason)
        low, high = (matrix.colours(x) for x in (0, 1))
        self.assertNotEqual(low, high)
        self.assertEqual(max(matrix.shade(table, "online_regression").values()), 1)  # the smallest loss

    def test_cells_never_average_over_settings(self):
        def case(**changes):
            base = dict(experiment="", task="recall", variant="linear", family="additive", form="chunked", real="f64", chunk=64,
                        seed=1, params={"recall": {"n": 4}, "linear": {"scale": 1.0}}, chosen={}, setting="fixed", status="ok",
                        reason="", headline="accuracy", better="larger", chance=0.25, ceiling=1.0, metrics={"accuracy": 0.5},
                        series={}, state_bytes=8.0, flops=4.0)  # fmt: skip
            return records.Case(**{**base, **changes})

        two = [case(), case(seed=2, metrics={"accuracy": 0.7})]
        wide = case(params={"recall": {"n": 8}, "linear": {"scale": 1.0}})
        trial = case(setting="trial", metrics={"accuracy": 0.0})
        found = cells.cells([*two, wide, trial])
        self.assertEqual([c.count for c in found], [2, 1])
        self.assertAlmostEqual(found[0].mean, 0.6)
        self.assertAlmostEqual(found[0].error, 0.1)
        self.assertEqual(cells.varying(found), {"n": [4, 8]})
        chosen = {("linear", "scale"): 0.2}
        tuned = cells.cells([case(chosen=chosen), case(seed=2, chosen=chosen)])
        self.assertEqual([(c.count, cells.tuning(dataclasses.replace(c, setting="tuned"))) for c in tuned], [(2, "tuned: scale = 0.2")])
        failed = cells.cells([case(), case(seed=2, status="failed", reason="why", metrics={})])[0]
        self.assertEqual((failed.status, failed.reason, failed.metrics), ("failed", "why", {}))
        twins = cells.cells([case(), case(variant="other", metrics={"accuracy": 0.5 + 1e-12}), case(variant="third", metrics={"accuracy": 0.5001})])
        self.assertEqual(cells.coincidences(twins), {"linear": "a", "other": "a"})

    def test_a_sweep_of_one_seed_is_drawn_without_bars(self):
        def cell(n, errors, seeds=1):
            base = dict(experiment="e", file=0, task="recall", variant="linear", status="ok", headline="accuracy", direction=1, setting="fixed")
            at = {"recall": {"n": n, "d": 16, "dv": 16}, "linear": {}}
            return records.Cell(**base, mean=1 / n, error=errors, count=seeds, params=at)

        for errors, seeds in ((float("nan"), 1), (0.1, 5)):
            sweep = [cell(n, errors, seeds) for n in (4, 8, 16, 32)]
            cells.tell_apart(sweep)
            for figure in (run_figures.experiment(sweep), run_figures.by_load(sweep)):
                (bars,) = figure.axes[0].containers
                self.assertEqual([round(float(y), 3) for y in bars[0].get_ydata()], [0.25, 0.125, 0.062, 0.031])
        alone = [cell(4, 0.1)]
        cells.tell_apart(alone)
        self.assertIsNone(run_figures.experiment(alone))  # nothing varies

    def test_settings_that_tell_cells_apart(self):
        """Task parameters are named if they vary over all cells of the task, layer parameters if they vary over the cells of that layer
        (defaults differ between layers), tuned parameters never."""
        cases = [c for n in (4, 8) for scale in (1.0, 2.0) for c in synthetic.seeded(
            [0.5], variant="softmax", params={"recall": {"n": n, "d": 16, "beta": float(n)}, "softmax": {"scale": scale}}, chosen={("recall", "beta"): 0.5})]
        cases += synthetic.seeded([0.5], variant="linear", params={"recall": {"n": 4, "d": 16, "beta": 1.0}, "linear": {"scale": 9.0}})  # fmt: skip
        synthetic.write_cases(self.runs, cases)
        told = [c.told for c in report.load([self.runs]).cells]
        self.assertEqual(told, [{"n": n, "scale": s} for n in (4, 8) for s in (1, 2)] + [{"n": 4, "beta": 1}])

    def test_the_front_is_what_nothing_beats_at_less_cost(self):
        self.assertEqual(cells.pareto([(1, 0.2), (2, 0.1), (3, 0.9), (2, 0.5), (9, 0.9)], 1), [0, 3, 2])
        self.assertEqual(cells.pareto([(1, 5.0), (2, 1.0), (3, 2.0)], -1), [0, 1])

    def test_the_linear_memory_s_theory(self):
        """Compared with a direct simulation: unit keys, Gaussian values; the correct value must have the largest
        inner product."""
        draw = np.random.default_rng(1)
        for n, d, dv in ((8, 16, 16), (32, 16, 16), (64, 32, 32)):
            right = 0
            for _ in range(2000):
                k = draw.normal(size=(n, d))
                k /= np.linalg.norm(k, axis=1, keepdims=True)
                v = draw.normal(size=(n, dv))
                right += int(np.argmax(v @ (v.T @ (k @ k[0]))) == 0)
            theory = run_figures.linear_memory_accuracy(n, d, dv)
            # the terms are not independent
            self.assertLess(abs(right / 2000 - theory), 0.06, (n, d, dv, right / 2000, theory))
        self.assertAlmostEqual(run_figures.linear_memory_accuracy(1, 16, 16), 1)


if __name__ == "__main__":
    unittest.main()
