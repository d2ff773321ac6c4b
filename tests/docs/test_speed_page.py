# SPDX-License-Identifier: Apache-2.0
"""docs/speed.md agrees with bench/results, and bench/collect.py keeps what `bench` wrote."""
import csv
import os
import re
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
BENCH = os.path.join(HERE, "..", "..", "bench")
sys.path.insert(0, BENCH)
import collect  # noqa: E402
import speed_page  # noqa: E402

PROGRAM = os.environ["RECOLLECT_PROGRAM"]


def row(source="recollect", math="exact", seconds=1e-3, **others):
    return {**dict(source=source, variant="linear", form="chunked", B="4", H="16", T="4096", Dk="64", Dv="64", storage="f32",
                   math=math, without="", status="ok", reason="", median_seconds=str(seconds), noise="0.004", kept_slow="0",
                   limit_seconds="0.0002", bound="bytes"), "pass": "forward", **others}


class Tables(unittest.TestCase):
    def test_a_ratio_is_ours_over_the_fastest_of_theirs(self):
        rows = [row(), row("fla", seconds=5e-4), row("torch", seconds=8e-4), row(math="bf16", seconds=6e-4),
                row("fla", math="bf16", seconds=2e-4)]
        line = speed_page.table(rows, "forward")[-1]
        self.assertEqual(line, "| linear | 4,16,4096,64,64 | 1 ±0.4% | 0.5 ±0.4% fla | 2.00x | 20% bytes | 0.6 ±0.4% | 0.2 ±0.4% fla "
                               "| 3.00x | 33% bytes |")
        self.assertEqual(speed_page.table(rows, "backward"), [])

    def test_a_ratio_of_two_runs_is_marked(self):
        together, apart = ([row(commit="a"), row("fla", seconds=5e-4, commit=other)] for other in "ab")
        self.assertIn("| 2.00x |", speed_page.table(together, "forward")[-1])
        self.assertIn("| 2.00x‡ |", speed_page.table(apart, "forward")[-1])

    def test_times_of_arrays_in_bf16_have_columns_of_their_own(self):
        rows = [row(), row(storage="bf16", seconds=8e-4, reason="arrays converted to float32 and back within the time"),
                row("fla", storage="bf16", seconds=2e-4), row("fla", math="bf16", storage="bf16", seconds=3e-4)]
        head, _, line = speed_page.table(rows, "forward")[-3:]
        self.assertTrue(head.endswith("| stored in bf16 | theirs, too | ratio | of limit |"), head)
        self.assertTrue(line.endswith("| 1 ±0.4% |  |  | 20% bytes |  |  |  |  | 0.8† ±0.4% | 0.2 ±0.4% fla | 4.00x | 25% bytes |"), line)

    def test_who_was_not_timed_has_no_ratio_and_its_reason_is_listed(self):
        rows = [row(), row("fla", status="skipped", reason="no float32", seconds=0)]
        self.assertIn("| 1 ±0.4% | fla: skipped |  | 20% bytes |", speed_page.table(rows, "forward")[-1])
        self.assertEqual(speed_page.refusals(rows)[-1], "- fla, skipped: no float32: linear 4,16,4096,64,64 forward f32")
        wrong = row(status="wrong", reason="it deviates", seconds=0)
        self.assertIn("| wrong: it deviates |", speed_page.table([wrong], "forward")[-1])

    def test_the_summary_has_geometric_means_by_the_width_of_heads_and_the_largest_ratio(self):
        rows = [r for T, ours in (("10", 1e-3), ("20", 4e-3)) for r in (row(T=T, seconds=ours), row("fla", T=T, seconds=1e-3))]
        rows += [row(T="30", seconds=9e-3), row("fla", T="30", status="skipped"), row(variant="softmax", T="10", seconds=1e-3),
                 row("torch", variant="softmax", T="10", seconds=2e-3)]
        self.assertEqual(speed_page.summary(rows, "forward")[-3:], [
            "| float32 | all | 3 | 1.26x | 4.00x |  |  | 0.71x |  | 4.00x | 4,16,20,64,64 |",
            "| float32 | linear | 2 | 2.00x | 4.00x |  |  | 1.00x |  | 4.00x | 4,16,20,64,64 |",
            "| float32 | softmax | 1 | 0.50x |  |  |  | 0.50x |  | 0.50x | 4,16,10,64,64 |"])
        self.assertEqual(speed_page.summary(rows, "backward"), [])

    def test_packed_texts_and_grouped_heads_have_rows_of_their_own(self):
        packed = dict(texts="4000,0,96", qk_heads="")
        grouped = dict(texts="", qk_heads="4")
        rows = [row(), row("fla"), row(seconds=3e-3, **packed), row("fla", **packed), row(seconds=2e-3, **grouped), row("fla", **grouped)]
        lines = speed_page.table(rows, "forward")[-3:]
        self.assertEqual([(line.split(" | ")[1], line.split(" | ")[4]) for line in lines],
                         [("4,16,4096,64,64", "1.00x"), ("4,16,4096,64,64, 3 texts of 0 to 4000 steps", "3.00x"),
                          ("4,16,4096,64,64, 4 heads of q and k", "2.00x")])
        self.assertEqual(speed_page.summary(rows, "forward")[-1],
                         "| float32 | linear | 3 | 1.82x | 1.00x |  |  |  | 2.45x | 3.00x | 4,16,4096,64,64, 3 texts of 0 to 4000 steps |")
        skipped = row("fla", status="skipped", reason="no", **grouped)
        self.assertTrue(speed_page.refusals([skipped])[-1].endswith(": linear 4,16,4096,64,64, 4 heads of q and k forward f32"))

    def test_a_row_at_its_limit_says_100_percent(self):
        self.assertEqual(speed_page.cells([row(seconds=2.001e-4)])[3], "100% bytes")

    def test_a_card_that_stayed_slow_is_marked(self):
        self.assertEqual(speed_page.milliseconds(row(kept_slow="1")), "1* ±0.4%")

    def test_the_page_is_what_the_results_say(self):
        with open(speed_page.PAGE, encoding="utf-8") as file:
            page = file.read()
        self.assertEqual(speed_page.rendered(page, os.path.join(BENCH, "results")), page)


class Collected(unittest.TestCase):
    def test_a_cpu_is_named_with_its_threads_and_what_may_disturb_them(self):
        meta = dict(device="host", concurrency="16", cpu_model="A Processor", load_average="0.2", threads_pinned="yes")
        self.assertEqual(collect.device_of(meta), "A Processor, 16 threads")
        self.assertEqual(collect.conditions_of(meta),
                         ["conditions: governor unknown, turbo unknown, load before 0.2, threads pinned yes"])
        self.assertEqual((collect.device_of({"device": "a GPU"}), collect.conditions_of({"device": "a GPU"})), ("a GPU", []))

    def test_packed_texts_and_grouped_heads_are_kept(self):
        with tempfile.TemporaryDirectory() as folder:
            shapes, source, out = (os.path.join(folder, name) for name in ("shapes.txt", "b.h5", "b.csv"))
            with open(shapes, "w", encoding="utf-8") as file:
                file.write("1,4,32,4,4 texts=20,12\n1,4,32,4,4 qk-heads=2\n1,4,32,4,4\n")
            subprocess.run([PROGRAM, "bench", "--variants", "linear", "--shapes", shapes, "--min-time", "0", "--max-time", "2", "-o",
                            source], check=True, capture_output=True)
            subprocess.run([sys.executable, os.path.join(BENCH, "collect.py"), source, "-o", out], check=True, capture_output=True)
            rows = speed_page.rendering.read(out)[1]
        self.assertEqual([(r["texts"], r["qk_heads"], r["status"]) for r in rows], [("20,12", "", "ok"), ("", "2", "ok"), ("", "", "ok")])

    def test_a_result_file_keeps_every_row_with_its_origin(self):
        with tempfile.TemporaryDirectory() as folder:
            source, out = os.path.join(folder, "b.h5"), os.path.join(folder, "b.csv")
            command = [PROGRAM, "bench", "--variants", "linear,softmax", "--shape", "1,1,32,4,4", "--min-time", "0",
                       "--max-time", "2", "-o", source]  # fmt: skip
            timed = subprocess.run(command, capture_output=True, text=True)
            self.assertEqual(timed.returncode, 0, timed.stderr)
            done = subprocess.run([sys.executable, os.path.join(BENCH, "collect.py"), source, source, "-o", out],
                                  capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            origin, rows = speed_page.rendering.read(out)
            another = os.path.join(folder, "another.csv")  # has softmax with an older time, and a case that b.h5 lacks
            with open(out, encoding="utf-8") as whole, open(another, "w", encoding="utf-8") as older:
                *head, linear, softmax = whole.read().splitlines()
                older.write("\n".join([*head, softmax.replace(",32,4,4,", ",64,4,4,"), re.sub(r",ok,,[^,]*,", ",ok,,9,", softmax)]) + "\n")
            add = [sys.executable, os.path.join(BENCH, "collect.py"), "--add", source, "-o"]
            self.assertEqual(subprocess.run([*add, another]).returncode, 0)
            added = speed_page.rendering.read(another)
            with open(another, encoding="utf-8") as whole:
                foreign = re.sub("# device: .*", "# device: another", whole.read())
            with open(another, "w", encoding="utf-8") as older:
                older.write(foreign)
            refused = subprocess.run([*add, another], capture_output=True, text=True)
        self.assertTrue(origin[0].startswith("device: ") and origin[0] != "device: unknown", origin)
        self.assertIn("bench --variants linear,softmax", origin[1])
        self.assertNotIn("/", origin[1])  # -o had the folder of this machine
        self.assertTrue(origin[-1].startswith("ceilings: bytes "), origin)
        self.assertEqual(added[0], [*origin, *origin[1:2], *origin[3:]])
        self.assertEqual([(r["variant"], r["T"]) for r in added[1]], [("softmax", "64"), ("linear", "32"), ("softmax", "32")])
        self.assertEqual(added[1][1:], rows)
        self.assertIn("is of another device", refused.stderr)
        self.assertEqual([r["variant"] for r in rows], ["linear", "softmax"])
        for r in rows:
            self.assertEqual((r["source"], r["status"], r["storage"], r["pass"]), ("recollect", "ok", "f32", "forward"))
            self.assertTrue(float(r["median_seconds"]) > 0 and float(r["limit_seconds"]) > 0 and int(r["samples"]) >= 5)
            self.assertEqual(r["method"], "host clock, caches flushed")


if __name__ == "__main__":
    unittest.main()
