# SPDX-License-Identifier: Apache-2.0
"""The plots written as SVG: well-formed for any points, marks at the axis's places, readable ticks."""
import math
import os
import re
import sys
import unittest
import xml.dom.minidom
from dataclasses import replace

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE]
import pages  # noqa: E402, F401: finds the modules below
from reports.figures import claims as claim_figures  # noqa: E402
from reports.figures import equivalence  # noqa: E402
from reports.figures import rows  # noqa: E402
from reports.figures import scales  # noqa: E402
import synthetic  # noqa: E402
from reports.records import Claim, Point, Results  # noqa: E402


def point(measured, predicted, **changes):
    return Point(**{**synthetic.point("statement", {"d": 2}, measured, predicted), **changes})


class Rows(unittest.TestCase):
    def test_a_mark_lies_where_the_ticks_say(self):
        for values in ([0.1, 0.9], [-3, 40], [1e-9, 2.0, 5e4], [-1e3, 1e-4, 7.0], [-33.0, -9990.0], [0.0, 1e-9, 3e4], [2e307, -1e308], [5e-324, 1.0], [1e12, 1e12 + 7]):
            axis = scales.scale(values)
            at = [axis.place(v) for v in sorted(values)]
            self.assertTrue(0 <= at[0] < at[-1] <= 1 and at == sorted(at), values)
            ticks = axis.ticks()
            self.assertGreater(len(ticks), 1, values)
            self.assertEqual(len({label for _, label in ticks}), len(ticks), ticks)
            self.assertLess(sum(len(label) + 2 for _, label in ticks), scales.MOST_LABELS + 1)
            self.assertTrue(all(0 <= axis.place(v) <= 1 for v, _ in ticks), ticks)
            self.assertEqual(sorted(axis.place(v) for v, _ in ticks), [axis.place(v) for v, _ in ticks])
            for value, label in ticks:
                if re.fullmatch(r"−?[\d.]+", label):
                    self.assertTrue(math.isclose(float(label.replace("−", "-")), value, rel_tol=1e-9, abs_tol=1e-300), (label, value))
        self.assertEqual([label for _, label in scales.scale([0.1, 0.9]).ticks()], ["0.2", "0.4", "0.6", "0.8"])
        self.assertEqual([label for _, label in scales.scale([1e-3, 1e3]).ticks()], ["10⁻³", "10⁻²", "10⁻¹", "1", "10¹", "10²", "10³"])
        self.assertEqual([label for _, label in scales.scale([-1e3, 0, 1e-4]).ticks()], ["−10³", "−10¹", "0"])
        self.assertEqual([label for _, label in scales.scale([-1e-3, -1e3]).ticks()], ["−10³", "−10²", "−10¹"])
        for one in ([0.0], [3.0, 3.0], [1.0, 1.0 + 2e-16]):  # no spread, or only rounding
            self.assertGreater(len(scales.scale(one).ticks()), 2)

    def test_any_points_are_a_drawing(self):
        sets = [
            [point(1.0, 1.0)],
            [point(0.0, 0.0), point(5e-324, 1e308, relation="at_most"), point(-1e308, 1.0, relation="at_least")],
            [point(0.5, 0.6, standard_error=0.1, verdict="refuted"), point(1e-9, 1e9, standard_error=1.0)],
        ]
        for points in sets:
            names = [f"<b> & $x$ \x00 \x1b k_t^T\nsecond line {i}" for i in range(len(points))]
            svg = rows.rows(points, names, "below\nthe axis")
            drawing = xml.dom.minidom.parseString(svg).documentElement
            said = [t.firstChild.data for t in drawing.getElementsByTagName("text")]
            self.assertEqual(sum(s.startswith("second line") for s in said), len(points))
            self.assertEqual(said.count("<b> & x     kₜᵀ"), len(points))
            self.assertNotIn("nan", svg)
            wide, high = (float(drawing.getAttribute(a).removesuffix("pt")) for a in ("width", "height"))
            for x, y in re.findall(r'd="M([\d.]+) ([\d.]+)', svg):
                self.assertTrue(0 <= float(x) <= wide and 0 <= float(y) <= high, (x, y))

    def test_bounds_sampled_and_refuted_points_look_different(self):
        def marks(p):
            return re.sub(r"[\d.]+", "0", rows.rows([p], ["name"], "").split("name</text>")[1].split("\n\n")[0])

        plain = point(0.5, 0.6)
        others = [replace(plain, standard_error=0.1), replace(plain, verdict="refuted"), replace(plain, relation="at_most"),
                  replace(plain, relation="at_least")]  # fmt: skip
        self.assertEqual(len({marks(p) for p in [plain, *others]}), 5)

    def test_a_plot_runs_along_the_parameter_of_its_law(self):
        """A law in c at four widths d: the axis is not d, because one width has several predictions."""
        def claim(exact, law):
            at = [(2, 0.0), (2, -1.0), (5, -0.5), (5, 0.3), (32, 0.9), (3, 1.0)]
            points = [point(law(d, c), law(d, c), params={"d": d, "c": c}) for d, c in at]
            return claim_figures.sweep(points, exact)[0]

        self.assertEqual(claim("(1 + sqrt(5 - 4c)) / 2", lambda d, c: 1.5 - c), "c")
        self.assertEqual(claim("1 / d", lambda d, c: 1 / d), "d")
        along = [point(1 / d, 1 / d, params={"d": d, "c": d / 64}) for d in (2, 4, 8, 16)]  # a law in both parameters
        self.assertEqual(claim_figures.sweep(along, "")[0], "d")
        self.assertEqual(claim_figures.sweep(along, "sqrt(1 - c^2)")[0], "c")  # the text contains one of them

    def test_three_values_are_a_curve_where_the_text_names_their_parameter(self):
        points = [point(1 / d, 1 / d, params={"d": d}) for d in (2, 4, 8)]
        self.assertEqual([claim_figures.sweep(points, exact)[0] for exact in ("1 / d", "dv")], ["d", None])

    def test_the_law_is_a_curve_and_the_statement_a_line_across(self):
        law = [point(1 / d, 1.1 / d, params={"d": d}, role="obligation") for d in (2, 4, 8, 16)]
        stated = [point(1 / d, 0.5, params={"d": d}) for d in (4, 8)]
        claim = Claim("c", points=law + stated, passed=True, verdict="refuted", exact="1 / d")
        (ax,) = claim_figures.claim_figure(claim).axes
        drawn = {line.get_linestyle(): line for line in ax.get_lines() if len(line.get_xdata()) > 1 and line.get_linestyle() != "None"}
        self.assertEqual(list(drawn["-"].get_xdata()), [2, 4, 8, 16])
        self.assertEqual(list(drawn["-"].get_ydata()), [1.1 / d for d in (2, 4, 8, 16)])
        # the whole width of the axes
        self.assertEqual((list(drawn["--"].get_xdata()), list(drawn["--"].get_ydata())), ([0, 1], [0.5, 0.5]))

    def test_a_law_measured_twice_is_one_curve(self):
        twice = [point(1 / d, 1 / d, params={"d": d, "n": n}) for n in (3, 4) for d in (8, 2, 4)]
        named = point(1, 1, params={"d": "largest"})  # on no axis
        self.assertEqual(list(claim_figures.law_along([*twice, named], "d").items()), [(2, 0.5), (4, 0.25), (8, 0.125)])
        self.assertEqual(claim_figures.law_along([*twice, point(1, 1, params={"d": 8})], "d"), {})

    def test_forms_that_use_one_share_of_their_bound_stand_by_name(self):
        forms = [f"layer_{i:02}" for i in range(20)]
        points = [point(0.5, 0.0, relation="at_most", tolerance=1.0, params={"variant": v}) for v in forms[::-1]]
        figure = equivalence.bound_used(Results(claims=[Claim("chunk_equals_recurrent", points=points)]))
        self.assertEqual([label.get_text() for label in figure.axes[0].get_yticklabels()], forms)

    def test_a_claim_of_many_points_says_how_many_are_not_shown(self):
        points = [point(1.0 + i, 2.0, label=f"case {i}", params={}) for i in range(13)]
        claim = Claim("c", points=points, passed=True, verdict="holds")
        self.assertIn("3 more points in the file", claim_figures.claim_figure(claim))
        self.assertIsNone(claim_figures.claim_figure(replace(claim, points=[point(float("nan"), 1.0)])))


if __name__ == "__main__":
    unittest.main()
