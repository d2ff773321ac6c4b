# SPDX-License-Identifier: Apache-2.0
"""For result files of every shape (shapes.py): what the terminal, the site, Markdown, CSV and JSON show is what the tables of
the files contain. The files are read by own_reader.py, which shares no code with the report."""
import json
import os
import re
import subprocess
import unittest

import own_reader as own
from held_claims import SAID
from held_speed import HeldSpeed
from own_reader import shows
from pages import run
from shapes import SHAPES

PROGRAM = os.environ.get("RECOLLECT_PROGRAM", "")


class Shapes(HeldSpeed):
    def test_pages_and_tables_say_what_the_file_holds(self):
        for name, write in SHAPES.items():
            with self.subTest(shape=name):
                path = os.path.join(self.folder, name + ".h5")
                write(path)
                found = own.tables(path)
                self.out = os.path.join(self.folder, name)
                self.written(path)
                self.hold_cells(found)
                self.hold_claims(found)
                self.hold_trainings(found)
                self.hold_speed(found)
                self.out += ".tables"
                self.assertEqual(run(path, "-o", self.out, "--csv", "--format", "md").returncode, 0)
                self.hold_csv(found)
                self.hold_markdown(found)

    def test_every_shape_is_there(self):
        """Each shape has the tables that it is meant to have."""
        found = {}
        for name, write in SHAPES.items():
            path = os.path.join(self.folder, name + ".h5")
            write(path)
            found[name] = own.tables(path)
        statuses = {r["status"] for tables in found.values() for r in tables.get("records", [])}
        self.assertEqual(statuses, {"ok", "failed", "skipped", "meaningless"})
        self.assertLess(len(found["unfinished"]["records"]), len(found["unfinished"]["plan"]))
        self.assertEqual(
            {r["setting"] for tables in found.values() for r in tables.get("plan", [])},
            {"tuned", "untuned", "fixed", "trial"},
        )
        self.assertTrue(any(r["status"] == "diverged" for r in found["diverged"]["trained"]))
        timed = [b for tables in found.values() for b in tables.get("bench", [])]
        self.assertEqual({b["status"] for b in timed}, {"ok", "failed", "skipped"})
        self.assertEqual({b.get("pass") for b in timed}, {"forward", "backward", None})
        outcomes = {c.outcome for tables in found.values() for c in own.claims(tables)}
        self.assertEqual(outcomes, set(SAID))


@unittest.skipUnless(PROGRAM, "needs the program")
def rows_of_tables(text):
    """The rows of the tables that `run` prints, by their columns."""
    rows, columns = [], None
    for line in text.splitlines():
        if line.startswith("  variant "):
            columns = line.split()
        elif columns and line.startswith("  "):
            rows.append(dict(zip(columns, line.split(None, len(columns) - 1))))
        else:
            columns = None
    return rows


class OnTheTerminal(unittest.TestCase):
    """Output of run and verify for the file that they wrote."""

    def setUp(self):
        self.case = HeldSpeed("same")
        self.case.setUp()
        self.addCleanup(self.case.doCleanups)
        self.path = os.path.join(self.case.folder, "r.h5")

    def said(self, *words, program=PROGRAM, status=0):
        done = subprocess.run(
            [program, *words, "-o", self.path],
            capture_output=True,
            text=True,
            env={k: v for k, v in os.environ.items() if k != "COLUMNS"},
        )
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout

    def test_run(self):
        for words in (
            ("--variants", "linear,softmax,ffn_relu", "--tasks", "recall,swap", "--seeds", "2", "--set", "n=4,8"),
            ("--variants", "softmax,delta_net", "--tasks", "recall", "--seeds", "3", "--tune"),
            ("--variants", "linear", "--tasks", "recall", "--seeds", "1"),
        ):
            text = self.said("run", *words)
            found = own.tables(self.path)
            counts = {s: sum(r["status"] == s for r in found["records"]) for s in ("ok", "meaningless", "failed")}
            self.assertEqual(text.splitlines()[-1], ", ".join(f"{n} {s}" for s, n in counts.items()))
            cells = [c for c in own.cells(found) if c.status == "ok"]
            rows = rows_of_tables(text)
            self.assertEqual(len(rows), len(cells), text)
            for row in rows:
                self.assertTrue(
                    any(
                        (c.plan["variant"], c.plan["form"]) == (row["variant"], row["form"])
                        and row["setting"].startswith(c.plan["setting"])
                        and shows(row["mean"], c.mean())
                        and ("s.e." not in row or shows(row["s.e."], c.error()))
                        for c in cells
                    ),
                    row,
                )
            self.assertEqual("--tune" in text, any(c.plan["setting"] == "untuned" for c in cells))
            self.case.written(self.path)
            self.case.hold_cells(found)
            os.remove(self.path)

    def test_bench(self):
        """What the terminal and the page show of a file of times is what its tables contain."""
        text = self.said(
            *("bench", "--variants", "linear,delta_net", "--sweep", "T=32,64,128", "--shape", "1,1,32,4,4"),
            *("--min-time", "0.001", "--max-time", "0.5"),
        )
        found = own.tables(self.path)
        rows = re.findall(r"^(\S+/B:\S+) +([\d.e-]+) ms  \[([\d.e-]+), ([\d.e-]+)\] +noise \S+ +(\S+) tokens/s", text, re.M)
        self.assertEqual(len(rows), len(found["bench"]))
        timed = {b["name"]: b for b in found["bench"]}
        self.assertEqual({told[0] for told in rows}, set(timed))
        for told in rows:
            b = timed[told[0]]
            for said, value, digits in zip(
                told[1:],
                (*(1e3 * b[n] for n in ("median_seconds", "low_seconds", "high_seconds")), b["tokens_per_second"]),
                (4, 4, 4, 3),
            ):
                self.case.same(said, value, digits, told)
        self.case.written(self.path)
        self.case.hold_speed(found)

    def test_verify(self):
        wrong = os.path.join(os.path.dirname(PROGRAM), "recollect_wrong")  # a build in which one layer has a wrong sign
        for program, words, status in (
            (PROGRAM, ("snr_*", "vla-copy-task", "vla_prop2*", "table2_softmax_norm"), 0),
            (wrong, ("chunk_equals_recurrent",), 1),
        ):
            written = os.path.join(self.case.folder, "v.json")
            text = self.said("verify", *words, "--json", written, program=program, status=status)
            found = own.tables(self.path)
            claims = own.claims(found)
            tested = [c for c in claims if c.outcome != "not_tested"]
            self.assertEqual(
                text.splitlines()[-1],
                f"{sum(c.passed for c in tested)} passed, {sum(not c.passed for c in tested)} failed",
            )
            for c in claims:
                (row,) = re.findall(rf"^{c.id} .*$", text, re.M)
                self.assertIn(c.verdict + (f" ({c.scope or c.reason})" if c.scope or c.reason else ""), row)
                if c.outcome == "failed":
                    broken = [p for p in c.points if p["verdict"] != "holds"]
                    self.assertTrue(
                        any(
                            all(
                                part in row
                                for part in ("FAILED", *re.findall(r"(?:variant|form|C)=[^,]+", p["parameters"]))
                            )
                            for p in broken
                        ),
                        row,
                    )
                elif c.points:
                    self.assertTrue(any(shows(row.split()[1], p["measured"]) for p in c.points), row)
            with open(written, encoding="utf-8") as f:
                told = {c["id"]: c for c in json.load(f)["claims"]}
            self.assertEqual(sorted(told), sorted(c.id for c in claims))
            for c in claims:
                entry = told[c.id]
                self.assertEqual(
                    [entry[k] for k in ("verdict", "outcome", "scope", "expected", "passed")],
                    [c.verdict, c.outcome, c.scope, c.expected, c.passed],
                )
                for listed, points in ((entry["points"], c.points), (entry["rivals"], c.rivals)):
                    self.assertEqual(
                        [(float(p["measured"]), float(p["predicted"]), p["verdict"]) for p in listed],
                        [(p["measured"], p["predicted"], p["verdict"]) for p in points],
                    )
            self.case.written(self.path)
            self.case.hold_claims(found)
            os.remove(self.path)


if __name__ == "__main__":
    unittest.main()
