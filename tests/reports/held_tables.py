# SPDX-License-Identifier: Apache-2.0
"""Compares CSV and Markdown with the tables of the file."""
import csv
import math
import os

import own_reader as own
import synthetic
from held_claims import HeldClaims
from own_reader import shows


class HeldTables(HeldClaims):
    """Tables in place of pages."""

    def csv(self, name):
        with open(os.path.join(self.out, name), encoding="utf-8", newline="") as f:
            return list(csv.DictReader(f))

    def hold_csv(self, found):
        wanted = {
            (*c.key, str(sorted(map(str, c.params.items()))), m): c for c in own.cells(found) for m in c.metrics or [""]
        }
        rows = self.csv("cells.csv")
        self.assertEqual(len(rows), len(wanted))
        for row in rows:
            mine = [
                c
                for (*key, _, metric), c in wanted.items()
                if (key, metric) == ([row["experiment"], row["task"], row["variant"]], row["metric"])
                and self.ran_with(c, row)
            ]
            self.assertEqual(len(mine), 1, row)  # only its parameters distinguish it from the others
            cell = mine[0]
            self.assertEqual(row["status"], cell.status)
            if cell.status == "ok":
                self.assertEqual(int(row["seeds"]), len(cell.metrics[row["metric"]]))
                for name, value in (
                    ("mean", cell.mean(row["metric"])),
                    ("standard_error", cell.error(row["metric"])),
                    ("state_bytes", cell.state_bytes),
                    ("flops", cell.flops),
                ):
                    self.assertTrue(
                        math.isclose(float(row[name]), value, rel_tol=1e-12, abs_tol=1e-15)
                        or value != value != float(row[name]),
                        (name, row),
                    )
        claims = {c.id: c for c in own.claims(found)}
        told = self.csv("claims.csv")
        self.assertEqual(sorted(r["id"] for r in told), sorted(claims))
        for row in told:
            c = claims[row["id"]]
            self.assertEqual(
                [row[n] for n in ("outcome", "verdict", "expected", "scope", "passed")],
                [c.outcome, c.verdict, c.expected, c.scope, str(int(c.passed))],
            )
        numbers = [n for n, _ in synthetic.NUMBERS]
        points = sorted((r["claim"], *(float(r[n]) for n in numbers), r["verdict"]) for r in self.csv("points.csv"))
        self.assertEqual(
            points,
            sorted(
                (c.id, *(p[n] for n in numbers), p["verdict"]) for c in claims.values() for p in c.points + c.rivals
            ),
        )

    def ran_with(self, cell, row):
        """Whether the row's columns are the cell's parameters, the tuned values among them."""
        ran = {
            (f"{'task' if owner == cell.plan['task'] else 'layer'}.{name}"): value
            for (owner, name), value in {**cell.params, **cell.chosen}.items()
        }
        columns = {name: value for name, value in row.items() if name.startswith(("task.", "layer.")) and value}
        return set(columns) == set(ran) and all(
            columns[n] == str(v) or (not isinstance(v, str) and float(columns[n]) == v) for n, v in ran.items()
        )

    def hold_markdown(self, found):
        with open(os.path.join(self.out, "report.md"), encoding="utf-8") as f:
            rows = [[part.strip() for part in line.strip("|\n").split(" | ")] for line in f if line.startswith("| ")]
        claims, cells = {c.id: c for c in own.claims(found)}, own.cells(found)
        told = [row for row in rows if row[0] in claims]
        self.assertEqual(len(told), len(claims))
        for id, source, verdict, failed, value in told:
            claim, point = claims[id], claims[id].told()
            self.assertEqual(
                (source, verdict.split(" (")[0], failed == "FAILED"),
                (claim.source, claim.verdict.replace("_", " "), claim.outcome == "failed"),
            )
            self.assertEqual(
                verdict.endswith(f"({(claim.scope or claim.reason).replace('_', ' ')})"),
                bool(claim.scope or claim.reason),
                verdict,
            )
            if point:
                self.same(value.split(" against ")[0], point["measured"], 4, id)
            else:
                self.assertEqual(value, "–")
        told = [row for row in rows if len(row) == 10 and row[0] != "task"]
        self.assertEqual(len(told), len(cells))
        for task, layer, experiment, _, mean, error, seeds, chance, _, _ in told:
            mine = [c for c in cells if c.key == (experiment, task, layer)]
            shown = [
                c
                for c in mine
                if (shows(mean, c.mean(), 3) if c.status == "ok" else mean == c.status)
                and shows(error, c.error(), 2)
                and int(seeds) == c.seeds
            ]
            self.assertTrue(any(shows(chance, c.plan["chance"], 2) for c in shown), (task, layer, mean, error))
