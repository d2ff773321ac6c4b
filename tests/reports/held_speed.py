# SPDX-License-Identifier: Apache-2.0
"""Compares times on pages, in CSV and in Markdown with the table of the file."""
import html
import math
import os
import re

import own_reader as own
from held_tables import HeldTables
from own_reader import shows

KIND = ("real", "pass", "math", "schedule", "without")  # older files only have the type
SECONDS = ("median_seconds", "low_seconds", "high_seconds")
SHAPE = ("variant", "B", "H", "T", "Dk", "Dv")


def kind(b):
    return tuple(b.get(name) for name in KIND)


def slope(rows):
    """Slope of log time over log T by least squares, and its standard error."""
    x, y = ([math.log(b[n]) for b in rows] for n in ("T", "median_seconds"))
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    spread = sum((a - mean_x) ** 2 for a in x)
    found = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y)) / spread
    left = sum((b - mean_y - found * (a - mean_x)) ** 2 for a, b in zip(x, y))
    return found, math.sqrt(left / max(1, len(x) - 2) / spread)


class HeldSpeed(HeldTables):
    def hold_speed(self, found):
        rows = found.get("bench", [])
        if not rows:
            return
        timed = [b for b in rows if b["status"] == "ok"]
        self.hold_ratios(timed)
        self.hold_growth(timed)
        told = self.table_of("speed.html", "case", "by", "reason")
        self.assertEqual(
            sorted(map(tuple, told)),
            sorted(
                (b["name"], b["source"], " ".join(f"{b['status']}: {b['reason']}".split()))
                for b in rows
                if b["status"] != "ok"
            ),
        )
        for layer in {b["variant"] for b in timed}:
            told = self.table_of(f"layers/{layer}.html", "case", "median")
            mine = [b for b in timed if b["variant"] == layer]
            self.assertEqual(len(told), len(mine))
            for row, b in zip(told, mine):
                ends = re.fullmatch(r"(\S+) … (\S+) ms", row[2]).groups()
                self.assertEqual((row[0], row[4]), (b["name"], b["source"]))
                for text, name in zip((row[1].removesuffix(" ms"), *ends), SECONDS):
                    self.same(text, 1e3 * b[name], 3, row)
                self.same(row[3], b["tokens_per_second"], 3, row)

    def table_of(self, page, *heads):
        """Rows of the page's table whose headings begin with these; empty if it has no such table."""
        if not os.path.exists(os.path.join(self.out, page)):
            return []
        tables = own.page_tables(self.page(page).source)
        return next((rows for head, rows, _ in tables if tuple(head[: len(heads)]) == heads), [])

    def hold_ratios(self, timed):
        """One row per peer's time for which we have a time of the same shape and kind; the ratio uses our fastest."""
        expected = []
        for b in timed:
            ours = [
                a
                for a in timed
                if a["source"] == "recollect" and kind(a) == kind(b) and all(a[n] == b[n] for n in SHAPE)
            ]
            if b["source"] != "recollect" and ours:
                expected.append((min(ours, key=lambda a: a["median_seconds"]), b))
        told = self.table_of("speed.html", "case", "recollect", "peer")
        self.assertEqual(len(told), len(expected))
        for row, (ours, b) in zip(told, expected):
            self.assertEqual((row[0], row[2]), (ours["name"], b["source"]))
            for text, value in (
                (row[1].removesuffix(" ms"), 1e3 * ours["median_seconds"]),
                (row[3].removesuffix(" ms"), 1e3 * b["median_seconds"]),
                (row[4], b["median_seconds"] / ours["median_seconds"]),
            ):
                self.same(text, value, 3, row)

    def hold_growth(self, timed):
        """The exponents of the figure's legend."""
        lines = {}
        for b in timed:
            lines.setdefault((b["source"], b["form"], *(b[n] for n in SHAPE if n != "T"), kind(b)), []).append(b)
        expected = [(rows[0], *slope(rows)) for rows in lines.values() if len({b["T"] for b in rows}) >= 3]
        path = os.path.join(self.out, "figures", "time_against_length.svg")
        self.assertEqual(os.path.exists(path), bool(expected))
        if not expected:
            return
        with open(path, encoding="utf-8") as f:
            told = re.findall(r"(\w+) (\w+)[^:<>]*: T\^\((-?[\d.]+) ± ([\d.]+)\)", f.read())
        self.assertEqual(len(told), len(expected))
        for layer, form, power, error in told:
            self.assertTrue(
                any(
                    (layer, form) == (b["variant"], b["form"])
                    and abs(float(power) - exact) < 0.00501
                    and abs(float(error) - spread) < 0.00501
                    for b, exact, spread in expected
                ),
                (layer, form, power),
            )

    def hold_csv(self, found):
        super().hold_csv(found)
        rows, told = found.get("bench", []), self.csv("bench.csv")
        self.assertEqual(len(told), len(rows))
        for row, b in zip(told, rows):
            for column, text in row.items():
                if column in ("device", "commit"):
                    continue
                value = b.get(column, "")
                same = text == str(value) or not isinstance(value, str) and float(text) == value
                self.assertTrue(same, (column, row))

    def hold_markdown(self, found):
        super().hold_markdown(found)
        with open(os.path.join(self.out, "report.md"), encoding="utf-8") as f:
            lines = f.read().partition("## Speed")[2].splitlines()
        told = [[part.strip() for part in line.strip("|").split(" | ")] for line in lines if "/B:" in line]
        rows = found.get("bench", [])
        self.assertEqual(len(told), len(rows))
        for row, b in zip(told, rows):
            self.assertEqual(row[:2], [b["name"], b["source"]])
            if b["status"] != "ok":
                self.assertEqual(html.unescape(row[2]), f"{b['status']}: {b['reason']}")
                continue
            for text, name in zip(row[2:5], SECONDS):
                self.assertTrue(shows(text, 1e3 * b[name], 4), row)
