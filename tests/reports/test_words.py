# SPDX-License-Identifier: Apache-2.0
"""Words, formulas and numbers in the report."""
import os
import unittest
import unittest.mock
from dataclasses import replace

import pages  # noqa: F401, I001: finds the modules below
from reports.site import explain
from reports import findings
from reports import progress
from reports.figures import style
import synthetic
from reports.records import Claim, Point


def point(*arguments, **changes):
    return Point(**synthetic.point(*arguments, **changes))


def rival(*arguments):
    return Point(**synthetic.rival(*arguments))


class Words(unittest.TestCase):
    def test_explanations(self):
        def claim(**changes):
            stated = point("statement", {"d": 2}, 1.5, 1.0, verdict="refuted")
            wide = point("statement", {"d": 64}, 9.0, 1.0, verdict="refuted")
            corrected = point("obligation", {"d": 2}, 1.5, 1.5)
            base = dict(id="x", verdict="refuted", expected="refuted", scope="paper", reason="", passed=True, covers=[])
            points = dict(points=[wide, stated, corrected], rivals=[rival({"d": 2}, 1.5, 3.0)])
            return Claim(**{**base, **points, "explanation": "The square was dropped.", **changes})

        self.assertEqual(
            explain.explain(claim()),
            [
                "The square was dropped.",
                "At $d = 2$, 1.5 was measured where the statement gives 1.",  # the smallest counter-example
                "The exact form given here holds at the one point where it was measured.",
            ],
        )
        self.assertIn("trains nothing", " ".join(explain.explain(claim(scope="untrained"))))
        self.assertFalse(findings.needs_explaining(claim(scope="typo")))
        # a failure of ours is never presented as the paper's
        self.assertFalse(findings.needs_explaining(claim(expected="holds")))
        self.assertIn("without a measurement never passes", explain.why_failed(claim(points=[], passed=False))[0])
        self.assertIn("no rival", explain.why_failed(claim(rivals=[], passed=False))[0])
        open_rival = replace(rival({"d": 2}, 1.5, 1.5), verdict="holds")
        undecided = claim(passed=False, verdict="inconclusive", rivals=[open_rival])
        said = "Its rival “n for n-1” was not refuted, so the check cannot tell the two apart."
        self.assertEqual(explain.why_failed(undecided), [said])
        self.assertIn("samples are too few", explain.why_failed(claim(passed=False, verdict="inconclusive"))[0])

    def test_numbers(self):
        shown = {
            0: "0",
            12: "12",
            1234567: "1\u202f234\u202f567",
            0.5: "0.5",
            -1.5: "−1.5",
            1.5e-7: "1.5×10⁻⁷",
            float("nan"): "not a number",
            float("inf"): "∞",
            123456.0: "1.235×10⁵",
            "softmax": "softmax",
        }
        for value, text in shown.items():
            self.assertEqual(style.number(value), text)

    def test_progress_is_a_line_every_ten_seconds_in_a_pipe(self):
        heard, said = os.pipe()
        self.addCleanup(os.close, heard)
        now = 0.0
        with unittest.mock.patch("reports.progress.time.monotonic", lambda: now):
            shown = progress.Progress("figures", 100, said)
            for now in (1, 9, 11, 14, 20, 22):
                shown.advance(10)
            shown.end()
        os.close(said)
        self.assertEqual(os.read(heard, 4096).decode(), "[30/100] figures, 0:26 remaining\n[60/100] figures, 0:15 remaining\n")


if __name__ == "__main__":
    unittest.main()
