# SPDX-License-Identifier: Apache-2.0
"""Times are compared and joined within one kind of pass only."""
import unittest

import pages  # noqa: F401, I001: finds the modules below
import speed_figures


def timed(seconds, **what):
    row = dict(source="recollect", name="a case", variant="linear", form="chunked", B=1, H=2, T=64, Dk=8, Dv=8, real="f32",
               status="ok", median_seconds=seconds)  # fmt: skip
    row.update({"pass": "forward", "math": "exact", "schedule": "auto", "without": ""})
    row.update(what)
    return row


OTHER_KINDS = [{"pass": "backward"}, {"math": "tf32"}, {"schedule": "streaming"}, {"without": "alpha"}, {"real": "f64"}]


class Speed(unittest.TestCase):
    def test_a_peer_is_held_against_the_fastest_form_of_the_same_kind(self):
        for other in OTHER_KINDS:
            rows = [timed(1.0, name="ours"), timed(2.0, form="recurrent"), timed(0.25, **other),
                    timed(3.0, source="torch"), timed(5.0, source="torch", **other)]  # fmt: skip
            found = speed_figures.ratios({"bench": rows})
            self.assertEqual([(r["ours"], r["theirs"], r["ratio"]) for r in found], [(1.0, 3.0, 3.0), (0.25, 5.0, 20.0)], other)
            self.assertEqual((found[0]["name"], found[0]["peer"]), ("ours", "torch"))
            alone = speed_figures.ratios({"bench": [timed(1.0), timed(5.0, source="torch", **other)]})
            self.assertEqual(alone, [], other)  # of the peer's kind there is no time of ours

    def test_a_line_against_length_holds_one_kind(self):
        for other in OTHER_KINDS:
            rows = [timed(T / 64, T=T) for T in (64, 128, 256)] + [timed(T / 8, T=T, **other) for T in (64, 128, 256)]
            lines = speed_figures.series(rows)
            self.assertEqual(sorted(len(line) for line in lines.values()), [3, 3], other)
            self.assertTrue(all(abs(speed_figures.exponent(line)[0] - 1) < 1e-9 for line in lines.values()), other)

    def test_files_without_these_columns_are_of_the_usual_kind(self):
        old = timed(1.0)
        for column in ("pass", "math", "schedule", "without"):
            del old[column]
        self.assertEqual(speed_figures.kind(old), speed_figures.kind(timed(1.0)))
        self.assertEqual(speed_figures.words_of(speed_figures.kind(old)), "")
        told = speed_figures.words_of(speed_figures.kind(timed(1.0, math="tf32", without="alpha", **{"pass": "backward"})))
        self.assertEqual(told, "backward, tf32, without alpha")


if __name__ == "__main__":
    unittest.main()
