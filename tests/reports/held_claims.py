# SPDX-License-Identifier: Apache-2.0
"""Compares pages about claims and trained models with the tables of the file."""
import math
import os
import re
import statistics

import own_reader as own
from held_cells import HeldCells
from own_reader import shows

SAID = {  # outcome: the first page's words for one claim, and for many
    "holds": ("statement holds", "statements hold"),
    "holds_under": ("holds under a condition", "hold under a condition"),
    "holds_asymptotically": ("holds in a limit", "hold in a limit"),
    "refuted": ("refuted as asserted",) * 2,
    "boundary": ("refuted in a stricter reading",) * 2,
    "typo": ("typo", "typos"),
    "untrained": ("effect of training, absent without it", "effects of training, absent without it"),
    "not_tested": ("not tested",) * 2,
    "failed": ("failed",) * 2,
}


class HeldClaims(HeldCells):
    """The ledger, the pages of claims, the page of trained models."""

    def hold_claims(self, found):
        claims = {c.id: c for c in own.claims(found)}
        if not claims:
            return
        index, counts = self.page("index.html"), {}
        for c in claims.values():
            counts[c.outcome] = counts.get(c.outcome, 0) + 1
        tested = [c for c in claims.values() if c.outcome != "not_tested"]
        self.says(index, f"{sum(c.passed for c in tested)} / {len(tested)} as expected.")
        untested = counts.get("not_tested", 0)
        self.assertEqual(f"{untested} more cannot be tested (" in index.text, untested > 0)
        self.assertNotIn("()", index.text)
        bare = re.sub(r"[^\w .,:]", "", index.text).replace("  ", " ")
        for outcome, count in counts.items():
            if outcome != "not_tested":
                self.assertIn(f"{count} {SAID[outcome][count != 1]}", bare)
        papers = {c.source.split(" ")[0] for c in claims.values()}
        for paper in papers:
            mine = [c.outcome for c in claims.values() if c.source.split(" ")[0] == paper]
            told = (
                index.text.partition("The papers")[2].partition(f"{len(mine)} claim{'s' * (len(mine) != 1)}: ")[2]
                if len(papers) == 1
                else index.text
            )
            for outcome in set(mine):
                self.assertIn(f"{mine.count(outcome)} {SAID[outcome][mine.count(outcome) != 1]}", told, paper)
        _, rows, _ = own.page_tables(self.page("ledger.html").source)[0]
        self.assertEqual(len(rows), len(claims))
        for row in rows:
            c = claims[row[0].split(" ")[0]]
            self.assertIn(c.verdict.replace("_", " "), row[2])
            self.assertEqual("FAILED" in row[2], c.outcome == "failed")
            if c.told():
                measured, _, predicted = row[3].partition(" against ")
                self.same(measured.split(" ± ")[0], c.told()["measured"], 4, c.id)
                self.same(re.sub(r"^[≤≥] | [±+−] .*", "", predicted), c.told()["predicted"], 4, c.id)
            self.hold_claim_page(c)

    def hold_claim_page(self, c):
        page = self.page(f"claims/{c.id}.html")
        self.assertEqual(f"{c.verdict.replace('_', ' ')}" in page.text, True)
        self.assertEqual(
            ("✓ passed" in page.text, "✗ FAILED" in page.text),
            (c.outcome not in ("not_tested", "failed"), c.outcome == "failed"),
        )
        tables = {heads[0]: rows for heads, rows, _ in own.page_tables(page.source)}
        for name, points, at in (("role", c.points, 3), ("rival", c.rivals, 3)):
            rows = tables.get(name, [])
            self.assertEqual(len(rows), min(200, len(points)), c.id)
            for row in rows:
                self.assertTrue(
                    any(
                        shows(row[at], p["measured"])
                        and shows(re.sub(r"^[≤≥] | [±+−] .*", "", row[at + 1]), p["predicted"])
                        and row[-1] == p["verdict"].replace("_", " ")
                        for p in points
                    ),
                    row,
                )
        self.hold_folded(tables.get("row", []), c.points, "role", c.id)
        nearest = [[*row[:5], *row[6:]] for row in tables.get("wrong law or system", [])]  # without the distance
        self.hold_folded(nearest, c.rivals, "rival", c.id)
        if c.rivals:
            self.says(page, f"{sum(p['verdict'] == 'refuted' for p in c.rivals)} of {len(c.rivals)} rivals refuted.")
        for measured in re.findall(r"([^ ,(]+)(?: ± [^ ]+)? was measured where", page.text):
            self.assertTrue(any(shows(measured, p["measured"]) for p in c.points), (c.id, measured))

    def hold_folded(self, rows, points, group, told_of):
        """One row per group and label of the points, with their number and verdicts."""
        groups = {}
        for p in points:
            groups.setdefault(": ".join(filter(None, (p.get(group, ""), p.get("label", "").replace("$", "")))), []).append(p)
        self.assertEqual(len(rows), len(groups) if len(groups) < len(points) else 0, told_of)
        for name, at, measured, predicted, _, count, said in rows:
            mine = groups[name]
            verdicts = [p["verdict"].replace("_", " ") for p in mine]
            self.assertEqual(int(count), len(mine))
            told = [(f"{verdicts.count(v)} " if len(set(verdicts)) > 1 else "") + v for v in set(verdicts)]
            self.assertEqual(sorted(said.split(", ")), sorted(told))
            widest = max(mine, key=lambda p: own.gap(p) if p["verdict"] == "holds" else math.inf)
            if len(set(verdicts)) == 1 and set(verdicts) == {"holds"}:
                self.same(measured, widest["measured"], 4, (told_of, name))

    def hold_trainings(self, found):
        if "training_plan" not in found:
            return
        outcomes = {r["run"]: r for r in found["trained"]}
        sizes = {}
        for row in found["training_parameters"]:
            if (row["owner"], row["name"]) == ("train", "vocabulary"):
                sizes[row["run"]] = row["value"]
        alike = {}
        params = {}
        for row in found["training_parameters"]:
            params.setdefault(row["run"], []).append((row["owner"], row["name"], row["text"] or row["value"]))
        for row in found["training_plan"]:
            alike.setdefault((row["experiment"], str(sorted(map(str, params[row["run"]])))), []).append(row)
        expected = []
        for (experiment, _), runs in alike.items():
            done = [outcomes[r["run"]] for r in runs if r["run"] in outcomes]
            recalled = [0.0 if o["status"] == "diverged" else o["accuracy"] for o in done]
            loss = [math.log(sizes[o["run"]]) if o["status"] == "diverged" else o["loss"] for o in done]
            error = [statistics.stdev(x) / math.sqrt(len(x)) if len(x) > 1 else math.nan for x in (recalled, loss)]
            bad = sum(o["status"] == "diverged" for o in done)
            expected.append(
                (
                    runs[0]["mixer"],
                    sum(recalled) / len(done),
                    error[0],
                    min(recalled),
                    sum(loss) / len(done),
                    error[1],
                    len(done),
                    bad,
                )
            )
        contents = own.page_tables(self.page("training.html").source)[0][1]
        self.assertEqual([row[1] for row in contents], [str(len(found["training_plan"]))])  # each file becomes a suite
        (name,) = os.listdir(os.path.join(self.out, "training"))
        suite = self.page("training/" + name)
        tables = own.page_tables(suite.source)
        rows = [row for heads, rows, _ in tables if heads[0] == "mixer" for row in rows]
        experiments = {row["experiment"] or "trained" for row in found["training_plan"]}
        self.assertLessEqual(experiments, set(suite.ids))
        if len(experiments) > 1:
            self.assertLessEqual({"#" + e for e in experiments}, set(suite.references))
        self.assertEqual(len(rows), len(expected))
        for row in rows:
            self.assertTrue(
                any(
                    row[0] == e[0]
                    and self.are(row[2:8], (e[1], 4), (e[2], 2), (e[3], 4), (e[4], 3), (e[5], 2), (e[6], 9))
                    and ("diverged" in row[9]) == (e[7] > 0)
                    and (not e[7] or row[9].startswith(f"{e[7]} diverged"))
                    for e in expected
                ),
                row,
            )
        stated = found.get("trained_statements", [])
        told = [row for heads, rows, _ in tables if heads[0] == "verdict" for row in rows]
        self.assertEqual(
            sorted((r[0], r[2], r[-1]) for r in told), sorted((s["verdict"], s["says"], s["paper"]) for s in stated)
        )
        for row in told:
            s = next(
                s
                for s in stated
                if (s["verdict"], s["says"], s["paper"]) == (row[0], row[2], row[-1])
                and shows(row[3].split(" ")[0], s["mean"], 3)
            )
            self.assertIn(f"{s['seeds']} seed", row[3])
            self.same(row[5], s.get("adjusted", s["p"]), 2, row)
        for row_id in {s["row"] for s in stated}:
            self.says(self.page("training.html"), row_id)
