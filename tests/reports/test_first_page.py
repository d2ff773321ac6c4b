# SPDX-License-Identifier: Apache-2.0
"""The first page, and the counter-examples that readers can repeat."""
import contextlib
import io
import json
import math
import os
import re
import subprocess
import tempfile
import unittest

import own_reader as own
import synthetic
from own_reader import shows
from pages import ReportCase  # noqa: I001: finds the modules below
from reports.site import counter_examples
from reports import command as report
from reports.figures import runs as run_figures

EXAMPLES = counter_examples.EXAMPLES
BASELINE = os.path.join(os.path.dirname(__file__), "..", "..", "ci", "baseline.h5")
PROGRAM = os.environ.get("RECOLLECT_PROGRAM", "")


def printed(claim):
    """The two numbers that a counter-example prints: the found value, and the statement's value."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(counter_examples.program(claim), {})
    found, stated = map(float, out.getvalue().split())
    return found, stated


def tuned(layers):
    """Cases of recall: (layer, family, state bytes, values of the seeds)."""
    return [c for name, family, size, values in layers
            for c in synthetic.seeded(values, variant=name, family=family, state_bytes=size, chance=0.25)]  # fmt: skip


class CounterExamples(unittest.TestCase):
    def test_every_program_is_short_and_shows_what_it_says(self):
        claims = {c.id: c for c in own.claims(own.tables(BASELINE))}
        for id, example in EXAMPLES.items():
            with self.subTest(claim=id):
                self.assertLessEqual(len(example["code"].splitlines()), 5)
                found, stated = printed(id)
                self.assertGreater(abs(found - stated), 1e-7)
                self.assertIn(claims[id].outcome, ("refuted", "holds_asymptotically"))

    @unittest.skipUnless(PROGRAM, "needs the program")
    def test_every_claim_that_is_wrong_as_asserted_has_one(self):
        words = [PROGRAM, "list", "claims", "--verdict", "refuted", "--scope", "paper", "--json"]
        listed = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
        self.assertGreater(len(listed), 30)
        self.assertEqual({c["id"] for c in listed} - set(EXAMPLES), set())

    @unittest.skipUnless(PROGRAM, "needs the program")
    def test_the_numbers_are_those_of_the_program(self):
        """Each printed pair of numbers is a point of the claim: measured, and the statement's value."""
        mine = [id for id, example in EXAMPLES.items() if example["point"]]
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "v.h5")
            subprocess.run([PROGRAM, "verify", *mine, "-o", path], check=True, capture_output=True)
            claims = {c.id: c for c in own.claims(own.tables(path))}
        for id in mine:
            found, stated = printed(id)
            refuted = [p for p in claims[id].points if (p["role"], p["verdict"]) == ("statement", "refuted")]
            self.assertTrue(
                any(math.isclose(p["measured"], found, rel_tol=1e-6) and math.isclose(p["predicted"], stated, rel_tol=1e-6) for p in refuted), id
            )


class FirstPage(ReportCase):
    def claims(self):
        """Claims of every outcome; seven have a counter-example, one of them not refuted."""
        ids = list(EXAMPLES)[:7]
        kinds = [("refuted", "paper")] * 6 + [("refuted", "boundary")]
        order = [3, 6, 0, 5, 1, 4, 2]  # order in the file; the page uses another
        synthetic.write_claims(self.verdicts, [("additive", "linear")], count=40, failing=0, kernels=[],
                               named=[(ids[i], *kinds[i]) for i in order])  # fmt: skip
        return ids

    def test_the_counts_are_those_of_the_file(self):
        self.claims()
        index = self.written(self.verdicts)
        outcomes = [c.outcome for c in own.claims(own.tables(self.verdicts))]
        tiles = dict(re.findall(r'<li class="(\w+)"><a href="ledger.html#outcome=\w+"><b>(\d+)</b>', index.source))
        self.assertEqual({name: int(n) for name, n in tiles.items()},
                         {name: outcomes.count(name) for name in ("holds", "refuted")})  # fmt: skip
        self.says(index, f"{len(outcomes) - outcomes.count('not_tested')} claims were measured by recollect verify")
        self.assertNotIn("-o v.h5", index.text)  # the name of the file says nothing

    def test_five_refutations_with_their_counter_examples(self):
        ids = self.claims()
        index = self.written(self.verdicts)
        items = re.findall("<li>(.*?)</li>", index.source.partition('<ol class="news">')[2].partition("</ol>")[0], re.S)
        self.assertEqual([re.search(r"claims/(\w+)\.html", item)[1] for item in items], ids[:5])
        for item in items:
            measured, predicted = re.findall(r'<span class="num">([^< ]+)', item)
            self.assertTrue(shows(measured, 1.618) and shows(predicted, 1.0), item)
        for id in ids:
            page = self.page(f"claims/{id}.html")
            self.says(page, " ".join(counter_examples.program(id).split()))
        self.assertNotIn("import numpy", self.page("claims/claim_20.html").text)

    def test_every_layer_is_named_at_its_state_with_its_error(self):
        layers = [("linear", "additive", 512.0, (0.4, 0.6)), ("delta_net", "delta rule", 512.0, (0.7, 0.9)),
                  ("softmax", "nonparametric", 4096.0, (1.0, 1.0)), ("rls", "exact regression", 4096.0, (1.0, 1.0)),
                  ("ffn_relu", "persistent memory", 4096.0, (0.9, 0.8)), ("mesa", "exact regression", 5000.0, (0.2, 0.4))]  # fmt: skip
        synthetic.write_cases(self.runs, tuned(layers))
        figure = run_figures.recall_by_state(report.load([self.runs]))
        (ax,) = figure.axes
        ticks = [t.get_text() for t in ax.get_xticklabels()]
        self.assertEqual(ticks, ["512", "4\u202f096 to\n5\u202f000"])
        labels = {t.get_text() for t in ax.texts} - {"chance"}
        self.assertEqual(labels, {"linear", "delta_net", "rls\nsoftmax", "ffn_relu", "mesa"})
        drawn = sorted((c[0].get_xdata()[0], c[0].get_ydata()[0]) for c in ax.containers)
        places = [line.get_xdata()[0] for line in (c[0] for c in ax.containers)]
        self.assertEqual([round(y, 12) for _, y in drawn], [0.5, 0.8, 0.3, 0.85, 1.0])
        self.assertEqual([drawn[i][0] for i in (0, 1)], [min(places)] * 2)
        self.written(self.runs)
        self.assertTrue(os.path.exists(os.path.join(self.out, "figures", "recall_by_state.svg")))

    def test_layers_that_are_not_tuned_are_not_compared(self):
        layers = [(f"layer_{i}", "additive", 512.0 * (1 + i), (0.4, 0.6)) for i in range(5)]
        synthetic.write_cases(self.runs, [dict(c, setting="untuned") for c in tuned(layers)])
        self.assertIsNone(run_figures.recall_by_state(report.load([self.runs])))
        one_seed = [c for c in tuned(layers) if c["seed"] == 1]
        synthetic.write_cases(self.runs, one_seed)
        self.assertIsNone(run_figures.recall_by_state(report.load([self.runs])))

    def test_labels_do_not_cover_one_another(self):
        places, heights = [0.1, 0.9, 0.93, 0.95, 1.0], [0.05, 0.2, 0.1, 0.1, 0.05]
        middles = run_figures.stacked(places, heights)
        self.assertEqual(middles[0], 0.1)  # a label without close neighbours stays at its mark
        for i in range(4):
            self.assertGreaterEqual(middles[i + 1] - middles[i] + 1e-12, (heights[i] + heights[i + 1]) / 2)


if __name__ == "__main__":
    unittest.main()
