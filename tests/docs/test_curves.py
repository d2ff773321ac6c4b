# SPDX-License-Identifier: Apache-2.0
"""bench/curves.py finds the curves of a sweep and their cliffs."""
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench"))
import curves  # noqa: E402


def row(T=4032, Dk=64, Dv=64, seconds=1e-3, least=1e-4, **others):
    return {**dict(source="recollect", variant="linear", storage="bf16", math="exact", status="ok", B="4", H="16", T=str(T),
                   Dk=str(Dk), Dv=str(Dv), median_seconds=str(seconds), limit_seconds=str(least)), "pass": "forward", **others}


class Curves(unittest.TestCase):
    def test_a_step_is_judged_by_the_growth_of_the_least_time(self):
        smooth = [row(T, seconds=T * 1e-6, least=T * 1e-7) for T in range(4032, 4101, 4)]
        curve, = curves.curves(smooth)
        self.assertEqual((curve.axis, len(curve.points), curve.allowed()), ("T", 18, 1.5))
        self.assertAlmostEqual(curve.growth(curve.steepest()), 1)
        self.assertFalse(curve.cliff())

    def test_a_cliff_is_found_where_it_is(self):
        rows = [row(T, seconds=1e-3 if T <= 4096 else 1.6e-3) for T in range(4088, 4104, 4)]
        curve, = curves.curves(rows)
        self.assertTrue(curve.cliff())
        self.assertEqual(curve.points[curve.steepest()][0], 4096)
        self.assertIn("| 1.60x (cliff) | 4096 to 4100 | 1.50x |", curves.lines_of(rows)[-1])

    def test_the_same_time_for_less_work_counts_as_growth(self):
        falling = [row(T, least=1e-4 if T < 4092 else 0.5e-4) for T in range(4084, 4100, 4)]
        self.assertTrue(curves.curves(falling)[0].cliff())

    def test_widths_that_grow_together_may_grow_by_the_square(self):
        rows = [row(Dk=D, Dv=D, seconds=1e-3 if D <= 64 else 2e-3) for D in range(60, 69)]
        curve, = curves.curves(rows)
        self.assertEqual((curve.axis, curve.allowed(), curve.cliff()), ("Dk = Dv", 2.25, False))

    def test_far_points_other_kinds_and_failures_are_no_neighbours(self):
        rows = [row(T) for T in (60, 64, 68, 72, 4096, 4100, 4104)]
        rows += [row(T, status="failed") for T in (76, 80)] + [row(84, variant="softmax"), row(76, source="fla")]
        self.assertEqual([[p[0] for p in c.points] for c in curves.curves(rows)], [[60, 64, 68, 72]])

    def test_a_figure_is_drawn(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "f.svg")
            curves.draw([row(T) for T in (60, 64, 68, 72)], path)
            with open(path, encoding="utf-8") as file:
                self.assertIn("linear", file.read())


if __name__ == "__main__":
    unittest.main()
