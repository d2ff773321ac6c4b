# SPDX-License-Identifier: Apache-2.0
"""Compares pages about runs with the tables of the file."""
import math
import re

import own_reader as own
import pages
from own_reader import shows


class HeldCells(pages.ReportCase):
    """The pages of tasks and layers, the matrix, the first page."""

    def same(self, text, value, digits, *what):
        self.assertTrue(shows(text, value, digits), (*what, text, value))

    def hold_cells(self, found):
        """The pages of tasks and layers, the matrix and the first page's counts."""
        cells = own.cells(found)
        if not cells:
            return
        counts = {s: sum(c.status == s for c in cells) for s in {c.status for c in cells}}
        index = self.page("index.html")
        self.says(index, f"{counts.get('ok', 0)} of {len(cells)} cases (a layer on a task at one setting) ran")
        for status, count in counts.items():
            if status != "ok":
                self.says(index, f"{count} {status}")
        for task in {c.plan["task"] for c in cells}:
            mine = [c for c in cells if c.plan["task"] == task and c.plan.get("experiment", "") in ("", "matrix")]
            tables = own.page_tables(self.page(f"tasks/{task}.html").source)
            rows = next((rows for heads, rows, _ in tables if heads[:3] == ["layer", "family", "mean"]), [])
            self.assertEqual(len(rows), len(mine), task)
            for row in rows:
                self.assertTrue(any(self.is_row(row, c) for c in mine), row)
            for c in mine:
                self.assertTrue(any(self.is_row(row, c) for row in rows), (task, c.key))
        for layer in {c.plan["variant"] for c in cells}:
            mine = [c for c in cells if c.plan["variant"] == layer]
            heads, rows, _ = next(
                t for t in own.page_tables(self.page(f"layers/{layer}.html").source) if t[0][:2] == ["task", "headline"]
            )
            self.assertEqual(len(rows), len(mine))
            for row in rows:
                self.assertTrue(
                    any(
                        row[0].split(" ")[0] == c.plan["task"].split("_")[0]
                        and (
                            self.are(row[2:6], (c.mean(), 4), (c.error(), 2), (c.seeds, 9), (c.plan["chance"], 2))
                            if c.status == "ok"
                            else row[1].startswith(c.status + ": ")
                        )
                        for c in mine
                    ),
                    row,
                )
        self.hold_matrix(cells)
        self.hold_answers(cells, index)
        stated = [c for c in cells if c.plan.get("experiment", "") not in ("", "matrix")]
        rows = [
            row
            for heads, rows, _ in own.page_tables(self.page("tasks.html").source)
            for row in rows
            if heads[:3] == ["task", "layer", "settings"]
        ]
        self.assertEqual(len(rows), len(stated))
        for row in rows:
            self.assertTrue(
                any(
                    row[1] == c.plan["variant"]
                    and self.are(row[4:8], (c.mean(), 4), (c.error(), 2), (c.seeds, 9), (c.plan["chance"], 2))
                    for c in stated
                ),
                row,
            )
        for e in found.get("experiments", []):
            self.says(self.page("tasks.html"), e["printed"])

    @staticmethod
    def are(texts, *values):
        return all(shows(text, value, digits) for text, (value, digits) in zip(texts, values))

    def is_row(self, row, c):
        if row[0] != c.plan["variant"]:
            return False
        if c.status != "ok":
            return row[2].startswith(c.status + ": ")
        return self.are(
            row[2:6] + row[7:9],
            (c.mean(), 4),
            (c.error(), 2),
            (c.seeds, 9),
            (c.plan["chance"], 2),
            (c.state_bytes, 4),
            (c.flops, 4),
        ) and all(f"{name} = {value:g}" in row[9] for (_, name), value in c.chosen.items())

    def hold_matrix(self, cells):
        heads, rows, attributes = own.page_tables(self.page("layers.html").source)[0]
        tasks = sorted({c.plan["task"] for c in cells})
        self.assertEqual([h.split(" ")[0] for h in heads[1:]], [t.split("_")[0] for t in tasks])
        for row, beside in zip(rows, attributes):
            for task, text, hints in zip(tasks, row[1:], beside[1:]):
                mine = [c for c in cells if c.plan["task"] == task and c.plan["variant"] == row[0].split(" ")[0]]
                if hints["data-sort"]:
                    (cell,) = mine  # a number is only shown if there is one setting
                    self.assertTrue(math.isclose(float(hints["data-sort"]), cell.mean(), rel_tol=1e-12), row)
                    mean, _, error = text.partition(" ±")
                    self.same(mean, cell.mean(), 3, row)
                    self.same(re.match(r"[^a-z]*", error)[0], cell.error(), 1, row)
                    self.assertIn(f"{cell.seeds} seeds", hints["title"])
                elif len(mine) == 1:
                    self.assertTrue(
                        hints["title"].startswith(mine[0].status + ": ")
                        or mine[0].status == "ok"
                        and not mine[0].metrics,
                        hints,
                    )

    def hold_answers(self, cells, index):
        """The first page recommends a layer that has this mean at this state size and beats a guess."""
        said = index.text.partition("Best layer at each state size")[2].partition("All counts")[0]
        for layer, mean, size in re.findall(r"(\w+) ([^ ,;]+) at ([^ ]+) bytes", said):
            mine = [
                c
                for c in cells
                if c.plan["variant"] == layer and shows(mean, c.mean(), 2) and shows(size, c.state_bytes)
            ]
            self.assertTrue(mine, (layer, mean, size))
            sign = 1 if mine[0].plan["better"] == "larger" else -1
            self.assertGreater(sign * (mine[0].mean() - mine[0].plan["chance"]), 2 * mine[0].error())
            self.assertNotEqual(mine[0].plan["setting"], "untuned")
