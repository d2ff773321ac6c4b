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
            rows = list(csv.DictReader(line for line in lines if line[0] != "#"))
            name = os.path.splitext(os.path.basename(path))[0].replace(".", "_")
            self.assertIn(f"speed/{name}.html", self.page("speed.html").references)
            page = self.page(f"speed/{name}.html")
            for line in lines:
                if line[0] == "#":
                    self.says(page, " ".join(line[1:].split()))
            best = {}
            for r in rows:
                if r["status"] == "ok":
                    key = (r["pass"], r["variant"], r["without"], ", ".join(r[n] for n in SHAPE), r["math"], r["source"] == "recollect")
                    best[key] = min(best.get(key, r), r, key=lambda r: float(r["median_seconds"]))
            ours = {key[:-1]: r for key, r in best.items() if key[-1]}
            tables = [t for t in own.page_tables(page.source) if t[0][0] == "layer"]
            self.assertEqual(sum(len(t[1]) for t in tables), len(ours))
            for which, (_, told, _) in zip(dict.fromkeys(r["pass"] for r in rows), tables):
                for layer, shape, math, _, mine, theirs, by, ratio, share in told:
                    variant, _, without = layer.partition(" without ")
                    key = (which, variant, without, shape, math)
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
            self.assertEqual(summed[0][:3], ["device", "layer", "forward"])
            ratios = {}
            for (which, variant, *_), r in ours.items():
                other = best.get((which, variant, *_, False))
                if other:
                    ratios.setdefault((variant, which), []).append(float(r["median_seconds"]) / float(other["median_seconds"]))
            first = next(i for i, row in enumerate(summed[1]) if row[0] == own_title(page))
            for layer, row in zip(sorted({variant for variant, _ in ratios}), summed[1][first:]):
                self.assertEqual(row[1], layer)
                for at, which in ((2, "forward"), (4, "backward")):
                    mine = ratios.get((layer, which), [])
                    self.assertEqual(row[at + 1], str(len(mine)))
                    self.assertTrue(shows(row[at], statistics.median(mine), 3) if mine else row[at] == "–", (name, row))
            refused = sum(r["status"] != "ok" for r in rows)
            counts = [int(row[2]) for heads, told, _ in own.page_tables(page.source) if heads[0] == "by" for row in told]
            self.assertEqual(sum(counts), refused)

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
