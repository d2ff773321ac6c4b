# SPDX-License-Identifier: Apache-2.0
"""Times are only compared and joined within one kind of pass."""
import unittest
from dataclasses import replace

import pages  # noqa: F401, I001: finds the modules below
from reports.figures import speed as speed_figures
from reports.records import BenchRow, File, Results


def timed(seconds, **what):
    row = dict(source="recollect", name="a case", variant="linear", form="chunked", B=1, H=2, T=64, Dk=8, Dv=8, real="f32",
               status="ok", median_seconds=seconds)  # fmt: skip
    row.update(pass_="forward", math="exact", schedule="auto", without="")
    return BenchRow(**{**row, **what})


def results_of(rows, *devices):
    files = [File(f"b{i}.h5", dict(device=device)) for i, device in enumerate(devices or ["a card"])]
    return Results(bench=rows, files=files)


OTHER_KINDS = [{"pass_": "backward"}, {"math": "tf32"}, {"schedule": "streaming"}, {"without": "alpha"}, {"real": "f64"}]


class Speed(unittest.TestCase):
    def test_a_peer_is_held_against_the_fastest_form_of_the_same_kind(self):
        for other in OTHER_KINDS:
            rows = [timed(1.0, name="ours"), timed(2.0, form="recurrent"), timed(0.25, **other),
                    timed(3.0, source="torch"), timed(5.0, source="torch", **other)]  # fmt: skip
            found = speed_figures.ratios(results_of(rows))
            self.assertEqual([(r.ours, r.theirs, r.ratio) for r in found], [(1.0, 3.0, 3.0), (0.25, 5.0, 20.0)], other)
            self.assertEqual((found[0].name, found[0].peer), ("ours", "torch"))
            alone = speed_figures.ratios(results_of([timed(1.0), timed(5.0, source="torch", **other)]))
            self.assertEqual(alone, [], other)  # we have no time of the peer's kind

    def test_a_line_against_length_holds_one_kind(self):
        for other in OTHER_KINDS:
            rows = [timed(T / 64, T=T) for T in (64, 128, 256)] + [timed(T / 8, T=T, **other) for T in (64, 128, 256)]
            lines = speed_figures.series(rows)
            self.assertEqual(sorted(len(line) for line in lines.values()), [3, 3], other)
            self.assertTrue(all(abs(speed_figures.exponent(line)[0] - 1) < 1e-9 for line in lines.values()), other)

    def test_times_of_two_machines_are_neither_compared_nor_joined(self):
        slow = [timed(float(T), T=T) for T in (64, 128, 256)] + [timed(50.0, source="fla")]
        fast = [replace(b, file=1, median_seconds=b.median_seconds / 10) for b in slow]
        results = results_of(slow + fast, "a slow card", "a fast card")
        found = speed_figures.ratios(results)
        self.assertEqual([(r.ours, r.theirs, r.machine) for r in found], [(64.0, 50.0, "a slow card"), (6.4, 5.0, "a fast card")])
        ours = [line for key, line in speed_figures.series(results.bench).items() if key[0] == "recollect"]
        self.assertEqual([[b.file for b in line] for line in ours], [[0] * 3, [1] * 3])
        alike = results_of(slow + fast, "a card", "a card")
        self.assertEqual(speed_figures.machines(alike), {0: "b0.h5", 1: "b1.h5"})
        self.assertEqual(speed_figures.machines(results_of(slow)), {0: ""})

    def test_the_roofline_has_the_ceiling_of_every_machine_and_type(self):
        sizes = dict(flops=1e6, bytes=1e5, bytes_ceiling=1e9)
        rows = [timed(1e-3, real=real, flops_ceiling=peak, **sizes) for real, peak in (("f32", 4e9), ("f64", 2e9))]
        rows.append(replace(rows[0], file=1, flops_ceiling=8e9))
        for count, said in ((1, [""]), (2, [": f32", ": f64"]), (3, [": f32, a", ": f32, b", ": f64, a"])):
            (axes,) = speed_figures.roofline(results_of(rows[:count], *"ab"[: max(1, count - 1)])).axes
            drawn = {line.get_label(): max(line.get_ydata()) for line in axes.lines if "ceilings" in line.get_label()}
            self.assertEqual(sorted(drawn), ["ceilings measured on this machine" + words for words in said])
            if count == 3:
                self.assertEqual([round(drawn[label]) for label in sorted(drawn)], [4, 8, 2])

    def test_files_without_these_columns_are_of_the_usual_kind(self):
        old = timed(1.0, pass_="", math="", schedule="", without="")
        self.assertEqual(speed_figures.kind(old), speed_figures.kind(timed(1.0)))
        self.assertEqual(speed_figures.words_of(speed_figures.kind(old)), "")
        told = speed_figures.words_of(speed_figures.kind(timed(1.0, math="tf32", without="alpha", pass_="backward")))
        self.assertEqual(told, "backward, tf32 products, without alpha")
        self.assertEqual(speed_figures.words_of(speed_figures.kind(timed(1.0, real="bf16"))), "stored in bf16")


if __name__ == "__main__":
    unittest.main()
