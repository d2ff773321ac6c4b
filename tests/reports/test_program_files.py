# SPDX-License-Identifier: Apache-2.0
"""The report on files that the program wrote."""
import json
import math
import os
import subprocess
import unittest

from pages import ReportCase  # noqa: I001: finds the modules below
from reports import findings
from reports import matrix
from reports import command as report
from reports.figures import claims as claim_figures
from reports.figures import speed as speed_figures
from reports import trainings
from reports.site import explain
from reports.state_counts import state_counts


class ProgramFiles(ReportCase):
    def test_the_page_of_layers_has_the_state_of_every_layer(self):
        program = os.environ["RECOLLECT_PROGRAM"]
        run = [program, "run", "--variants", "linear", "--tasks", "recall", "--set", "n=8", "--set", "d=8", "-o", self.runs]
        subprocess.run(run, capture_output=True, check=True)
        subprocess.run([program, "report", self.runs, "-o", self.out, "--quiet"], capture_output=True, check=True)
        done = subprocess.run([program, "list", "variants", "--json"], capture_output=True, check=True, text=True)
        page, counts = self.page("layers.html"), state_counts()
        for layer in json.loads(done.stdout):
            state, other = layer["state"], counts.get(layer["name"], {})
            row = [layer["name"] + state["numbers"] + "".join(f", {one}" for one in state["fixed"])]
            self.says(page, "".join([*row, *(str(size) for size in state["bytes"].values()), other.get("numbers", "")]))
            self.says(page, other.get("source", ""))

    def test_files_of_the_program_itself(self):
        def program(*words):
            subprocess.run([os.environ["RECOLLECT_PROGRAM"], *words], capture_output=True, check=True)

        words = ("--variants", "gla,softmax,linear", "--tasks", "recall,online_regression,capacity")
        program("run", *words, "--seeds", "2", "--tune", "-o", self.runs)
        program("verify", "chunk_equals_recurrent", "table2_gla", "snr_linear", "-o", self.verdicts)
        bench = os.path.join(self.folder, "b.h5")
        sweep = ("--shape", "1,1,64,8,8", "--sweep", "T=64:256:*2", "--min-time", "0.001", "--max-time", "0.5")
        program("bench", "--variants", "linear", *sweep, "-o", bench)
        results = report.load([self.runs, self.verdicts, bench])
        table = matrix.build(results.matrix_cells)
        told = table.cell["softmax", "recall"]
        self.assertEqual((told.headline, told.direction, told.count, told.setting), ("accuracy", 1, 2, "tuned"))
        self.assertEqual((told.chance, told.ceiling), (1 / 32, 1))
        self.assertEqual(list(told.chosen), [("softmax", "scale")])
        self.assertGreater(told.mean, 0.9)  # untuned it would be at chance
        self.assertEqual(table.cell["linear", "online_regression"].direction, -1)
        self.assertEqual(told.state_bytes, 32 * (32 + 32) * 8)
        self.assertEqual([findings.outcome(c) for c in results.claims].count("holds"), 2)
        self.assertEqual(len(speed_figures.series(results.bench)), 1)
        done = subprocess.run(
            [os.environ["RECOLLECT_PROGRAM"], "report", self.runs, self.verdicts, bench, "--quiet", "-o", self.out],
            capture_output=True, text=True,
        )  # fmt: skip
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.says(self.page("index.html"), "3 / 3 as expected.")
        layer = self.page("layers/gated_linear.html")  # including the program's description of it
        self.says(layer, "6 Dk Dv flops")
        self.says(layer, "Also calledgla")
        self.says(layer, "Codevariants/gated_linear.cpp")
        self.assertIn('class="formula"', layer.source)
        self.says(self.page("layers/softmax.html"), "tuning")
        linear = self.page("layers/linear.html")
        for part in ("Inputsq, k, v", "Cost per token", "State", "Traits", "Parameters", "Accuracy against stored pairs",
                     "On the tasks", "Fast forms against the definition", "Speed", "tokens per second", "Claims that run it", "snr_linear"):  # fmt: skip
            self.says(linear, part)
        self.assertIn('<svg class="curve"', linear.source)
        claim = self.page("claims/snr_linear.html")
        for part in ("Statement (paraphrase)", "Exact form, or condition", "apart (tolerances)", "recollect verify snr_linear --seed 1 --points",
                     "@misc{recollect_snr_linear", "commit", "seed 1"):  # fmt: skip
            self.says(claim, part)
        self.assertTrue(any(r.startswith("https://arxiv.org/") for r in claim.references))
        self.assertEqual([i["src"] for i in claim.images], ["../figures/claim_snr_linear.svg"])
        task = self.page("tasks/recall.html")
        for part in ("accuracy", "softmax", "tuned: scale"):
            self.says(task, part)
        self.assertIn("layers/mamba.html", self.pages())  # also for layers that did not run in any file
        self.says(self.page("tasks/recall.html"), "chance 0.0312, best possible score 1")
        for name in ("time_against_length", "roofline", "cost_recall"):
            self.assertEqual(os.path.exists(os.path.join(self.out, "figures", name + ".svg")), name != "cost_recall")

    def test_points_asked_for_are_added_to_those_of_the_suite(self):
        """They are also drawn as curves: the law, and the statement's own value."""
        program, asked = os.environ["RECOLLECT_PROGRAM"], os.path.join(self.folder, "asked.h5")
        words = [program, "verify", "vla_prop2_unit_jacobian"]
        subprocess.run([*words, "-o", self.verdicts], capture_output=True, check=True)
        subprocess.run([*words, "--point", "c=-0.6:0.6:+0.2", "-o", asked], capture_output=True, check=True)
        (suite,), (alone,) = (report.load([path]).claims for path in (self.verdicts, asked))
        for paths in ([self.verdicts, asked], [asked, self.verdicts]):
            (claim,) = report.load(paths).claims
            self.assertEqual((len(claim.points), len(claim.rivals)),
                             (len(suite.points) + len(alone.points), len(suite.rivals) + len(alone.rivals)))  # fmt: skip
            self.assertTrue(claim.path.endswith("verdicts.h5") or claim.path == suite.path)
            self.assertFalse(explain.counter_example(claim).asked)  # texts are written for the suite's
        self.assertTrue(explain.counter_example(alone).asked)
        (again,) = report.load([self.verdicts, self.verdicts]).claims
        self.assertEqual(len(again.points), len(suite.points))
        x, along = claim_figures.sweep(claim.points, claim.exact)
        self.assertEqual(x, "c")
        norm = claim_figures.law_along([p for p in along if p.label == "the largest singular value of J"], x)
        for c, value in norm.items():
            self.assertAlmostEqual(value, (1 + math.sqrt(5 - 4 * c)) / 2)
        self.assertLessEqual({-0.6, -0.2, 0, 0.6}, set(norm))
        self.assertEqual(claim_figures.law_along(along, x), {})  # several quantities are no function of c
        self.written(self.verdicts, asked)
        page = self.page("claims/vla_prop2_unit_jacobian.html")
        self.says(page, "--seed 1 --points; recollect verify vla_prop2_unit_jacobian --point c=-0.6:0.6:+0.2")

    def test_what_was_read_and_on_what_condition(self):
        program, claims = os.environ["RECOLLECT_PROGRAM"], ("linattn_optimal_only_if", "vla_prop3_orthogonal_keys", "blog_mask")
        subprocess.run([program, "verify", *claims, "-o", self.verdicts], capture_output=True, check=True)
        subprocess.run([program, "report", self.verdicts, "--quiet", "-o", self.out], capture_output=True, check=True)
        refuted, under, typo = (self.page(f"claims/{claim}.html") for claim in claims)
        for part in ("Read in the paper", "What the authors could answer", "Conditions stated there", "What follows it in the paper"):
            self.says(refuted, part)
        self.says(under, "Holds if")
        self.says(under, "holds under")
        self.assertNotIn("Holds if", refuted.source)
        self.assertNotIn("What the authors could answer", typo.source)  # only for claims that are refuted as asserted
        self.assertIn("Read in the paper", typo.source)

    def test_trained_models(self):
        suite, trained = os.path.join(self.folder, "s.toml"), os.path.join(self.folder, "t.h5")
        with open(suite, "w", encoding="utf-8") as f:
            f.write('statement = [ { row = "a-row", paper = "T <1>", experiment = "small", where = { convolution = 2 }, '
                    'above = { mixer = "linear" }, below = { mixer = "none" } } ]\n'
                    '[[train]]\nname = "small"\ntitle = "Pairs & <keys>"\nprinted = "1.000"\nseeds = 2\nset = { mixer = ["linear", "none"], '
                    "convolution = [0, 2], width = 8, heads = 2, ffn = 8, vocabulary = 16, pairs = 2, batch = 4, steps = 30, every = 10, "
                    "evaluate = 2 }\n")  # fmt: skip
        subprocess.run([os.environ["RECOLLECT_PROGRAM"], "train", "--suite", suite, "-o", trained], capture_output=True, check=True)
        (experiment,) = trainings.experiments(report.load([trained]))
        self.assertEqual([(r.mixer, r.shown, r.count) for r in experiment.rows],
                         [(m, f"convolution = {c}", 2) for c in (0, 2) for m in ("linear", "none")])  # fmt: skip
        for row in experiment.rows:
            self.assertAlmostEqual(row.mean, sum(r.accuracy for r in row.runs) / 2)
            self.assertEqual(row.chance, 0.5)
            self.assertEqual([step for step, _, _ in row.runs[0].curve], [10, 20, 30])
        self.written(trained)
        self.says(self.page("training.html"), "Pairs & <keys>")
        page = self.page(f"training/{os.path.splitext(os.path.basename(trained))[0]}.html")
        self.says(page, "Printed. 1.000")
        self.says(page, "accuracy of linear above none, convolution=2")
        self.says(page, "T <1>")
        (stated,) = report.load([trained]).statements
        self.assertEqual((stated.row, stated.verdict), ("a-row", "undecided"))  # two seeds cannot decide
        for side, mixer in (("mean", "linear"), ("other_mean", "none")):
            (row,) = [r for r in experiment.rows if (r.mixer, r.shown) == (mixer, "convolution = 2")]
            self.assertAlmostEqual(getattr(stated, side), row.mean)
        self.assertIn("recollect train --suite", trainings.told(report.load([trained]).files[0].meta))
        self.assertTrue(os.path.exists(os.path.join(self.out, "figures", "training_0.svg")))
        self.assertNotIn("Pairs", self.page("tasks.html").text)


if __name__ == "__main__":
    unittest.main()
