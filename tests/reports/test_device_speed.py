# SPDX-License-Identifier: Apache-2.0
"""Pages of times by device, compared with the tables of bench/results by a separate reader."""
import csv
import glob
import os
import re
import statistics
import subprocess
import tempfile
import unittest

import own_reader as own
import pages
from own_reader import shows

KEPT = glob.glob(os.path.join(pages.HERE, "..", "..", "bench", "results", "*.csv"))
SHAPE = ("B", "H", "T", "Dk", "Dv")


def own_title(page):
    return re.search(r"<h1>(.*?)</h1>", page.source)[1]


class DeviceSpeed(pages.ReportCase):
    def test_the_program_takes_them(self):
        with tempfile.TemporaryDirectory() as folder:
            words = [os.environ["RECOLLECT_PROGRAM"], "report", *KEPT, "-o", os.path.join(folder, "site"), "--quiet"]
            done = subprocess.run(words, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertTrue(os.path.exists(os.path.join(folder, "site", "speed.html")))

    def test_every_case_is_beside_the_fastest_of_theirs(self):
        self.assertTrue(KEPT)
        self.written(*KEPT)
        for path in KEPT:
            with open(path, encoding="utf-8", newline="") as f:
                lines = f.read().splitlines()
            measured = list(csv.DictReader(line for line in lines if line[0] != "#"))
            name = os.path.splitext(os.path.basename(path))[0].replace(".", "_")
            self.assertIn(f"speed/{name}.html", self.page("speed.html").references)
            page = self.page(f"speed/{name}.html")
            for line in lines:
                if line[0] == "#":
                    self.says(page, " ".join(line[1:].split()))
            best = {}
            for r in measured:
                if r["status"] == "ok":
                    stored = r["storage"] if r["math"] == "exact" else "f32"  # theirs are stored as bf16 where products are
                    key = (r["pass"], r["variant"], r["without"], ", ".join(r[n] for n in SHAPE), r["math"], stored, r["source"] == "recollect")
                    best[key] = min(best.get(key, r), r, key=lambda r: float(r["median_seconds"]))
            ours = {key[:-1]: r for key, r in best.items() if key[-1]}
            tables = [t for t in own.page_tables(page.source) if t[0][0] == "layer"]
            self.assertEqual(sum(len(t[1]) for t in tables), len(ours))
            for which, (_, told, _) in zip(dict.fromkeys(r["pass"] for r in measured), tables):
                for layer, shape, math, stored, mine, theirs, by, ratio, share in told:
                    variant, _, without = layer.partition(" without ")
                    key = (which, variant, without, shape, math, stored.partition(", ")[0])
                    r, other = ours[key], best.get((*key, False))
                    seconds = float(r["median_seconds"])
                    self.assertTrue(shows(mine.split(" ±")[0], 1e3 * seconds, 3), key)
                    self.assertEqual(theirs == "–", other is None, key)
                    if other:
                        self.assertEqual(by, other["source"])
                        self.assertTrue(shows(theirs.split(" ±")[0], 1e3 * float(other["median_seconds"]), 3), key)
                        self.assertTrue(shows(ratio, seconds / float(other["median_seconds"]), 3), key)
                    self.assertTrue(shows(share.split(" %")[0], 100 * float(r["limit_seconds"]) / seconds, 2), key)
            summed = own.page_tables(self.page("speed.html").source)[0]
            self.assertEqual(summed[0][:4], ["device", "layer", "pass", "all shapes"])
            ratios = {}
            for (which, variant, without, shape, math, stored), r in ours.items():
                other = best.get((which, variant, without, shape, math, stored, False))
                if other:
                    ratio = float(r["median_seconds"]) / float(other["median_seconds"])
                    ratios.setdefault((variant, which), []).append((ratio, *map(int, shape.split(", ")[2:])))
            first = next(i for i, row in enumerate(summed[1]) if row[0] == own_title(page))
            rows = summed[1][first : first + len(ratios)]
            self.assertEqual({(row[1], row[2]) for row in rows}, set(ratios))
            for _, layer, which, all_shapes, count, *by_width in rows:
                mine = ratios[layer, which]
                self.assertEqual(count, str(len(mine)))
                self.assertTrue(shows(all_shapes, statistics.geometric_mean(m[0] for m in mine), 3), (name, layer))
                for width, told in zip((64, 128, 256), by_width):
                    some = [ratio for ratio, *sizes in mine if sizes[0] > 16 and sizes[1:] == [width, width]]
                    self.assertTrue(shows(told, statistics.geometric_mean(some), 3) if some else told == "–", (name, layer, width))
            refused = sum(r["status"] != "ok" for r in measured)
            counts = [int(row[2]) for heads, told, _ in own.page_tables(page.source) if heads[0] == "by" for row in told]
            self.assertEqual(sum(counts), refused)

    def test_packed_texts_grouped_heads_and_types_have_rows_of_their_own(self):
        path = os.path.join(self.folder, "card.csv")
        columns = ("source", "variant", "pass", *SHAPE, "storage", "math", "without", "texts", "qk_heads", "status", "reason",
                   "median_seconds", "noise", "limit_seconds", "bound")  # fmt: skip
        cases = [("f32", "", "", 5), ("bf16", "", "", 4), ("bf16", "90,0,10", "", 3), ("bf16", "", "2", 2)]
        with open(path, "w", encoding="utf-8", newline="") as f:
            f.write("# device: a card\n")
            table = csv.writer(f)
            table.writerow(columns)
            for stored, texts, heads, seconds in cases:
                for source, own_seconds in (("recollect", seconds), ("fla", 1)):
                    row = (source, "linear", "forward", 1, 4, 100, 64, 64, stored, "exact", "", texts, heads, "ok", "", own_seconds, 0, 0.1, "bytes")
                    table.writerow(row)
        self.written(path)
        told = next(t for t in own.page_tables(self.page("speed/card.html").source) if t[0][0] == "layer")[1]
        self.assertEqual({(row[1], row[3], row[7]) for row in told},
                         {("1, 4, 100, 64, 64", "f32", "5"), ("1, 4, 100, 64, 64", "bf16", "4"),
                          ("1, 4, 100, 64, 64, 3 texts of 0 to 90 steps", "bf16", "3"),
                          ("1, 4, 100, 64, 64, 2 heads of q and k", "bf16", "2")})

    def test_another_table_is_refused_in_one_line(self):
        path = os.path.join(self.folder, "x.csv")
        with open(path, "w", encoding="utf-8") as f:
            f.write("a,b\n1,2\n")
        self.refused("x.csv cannot be read: it is no table of bench/collect.py", path)
        with open(KEPT[0], encoding="utf-8") as f:
            text = f.read()
        with open(path, "w", encoding="utf-8") as f:
            f.write(re.sub(r"\n$", ",one more\n", text))
        self.refused("another number of fields", path)


if __name__ == "__main__":
    unittest.main()
