# SPDX-License-Identifier: Apache-2.0
"""The report on files of the final size, on files with one part missing, and on everything it must refuse."""
import html.parser
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

import h5py

HERE = os.path.dirname(os.path.abspath(__file__))
REPORTS = os.path.join(HERE, "..", "..", "reports")
sys.path[:0] = [HERE, REPORTS]
import explain  # noqa: E402
import matrix  # noqa: E402
import read  # noqa: E402
import style  # noqa: E402
import synthetic  # noqa: E402

FIGURES = [
    "verdicts_by_paper",
    "snr_curves",
    "paper_error",
    "swap_accuracy",
    "regression_loss",
    "equivalence",
    "bound_used",
    "pulls",
    "matrix",
]


def run(*arguments):
    return subprocess.run(
        [sys.executable, os.path.join(REPORTS, "report.py"), *arguments], capture_output=True, text=True
    )


class Page(html.parser.HTMLParser):
    """What a page refers to, its anchors, and its text."""

    def __init__(self, path):
        super().__init__()
        self.references, self.ids, self.words, self.rows = [], [], [], []
        self.quiet = None
        with open(path, encoding="utf-8") as f:
            self.source = f.read()
        self.feed(self.source)

    def handle_starttag(self, tag, attributes):
        self.quiet = tag if tag in ("style", "script") else None
        for name, value in attributes:
            if name in ("src", "href", "srcset", "data", "poster", "action"):
                self.references.append(value)
            if name == "id":
                self.ids.append(value)
        if tag == "tr" and "data-outcome" in dict(attributes):
            self.rows.append(dict(attributes))

    def handle_endtag(self, tag):
        self.quiet = None

    def handle_data(self, data):
        if not self.quiet:
            self.words.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())


class Report(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.runs, self.verdicts, self.out = (os.path.join(self.folder, n) for n in ("r.h5", "v.h5", "out"))

    def written(self, *files):
        done = run(*files, "-o", self.out)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return Page(os.path.join(self.out, "index.html"))

    def says(self, page, words):
        self.assertTrue(words in page.text, words)  # assertIn would print the whole page

    def refused(self, message, *files, out=None):
        done = run(*files, "-o", out or self.out)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn(message, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1)
        self.assertFalse([n for n in os.listdir(self.folder) if n.startswith(".report") or n == "out"])

    def test_full_size(self):
        variants = synthetic.write_runs(self.runs)
        ids = synthetic.write_claims(self.verdicts, variants, count=200)
        page = self.written(self.runs, self.verdicts)
        for name in FIGURES:
            for ending, least in (("png", 5000), ("svg", 4000)):
                self.assertGreater(os.path.getsize(os.path.join(self.out, "figures", f"{name}.{ending}")), least, name)
        self.assertEqual(len(page.rows), len(ids))
        self.assertEqual(
            page.source.count('loading="lazy"'), len(os.listdir(os.path.join(self.out, "figures"))) // 2 - 1
        )  # the matrix is a table
        for variant in variants:
            self.says(page, variant[1])
        self.says(page, f"{len(variants)} variants × {len(synthetic.TASKS)} tasks")
        self.says(page, "the layer holds fixed weights and cannot be written to")
        self.says(page, "softmax: <needs> a finite scale & more")  # escaped, hence read back as it was
        self.says(page, "the run ended before it")
        self.says(page, f"1 of {len(variants) * len(synthetic.TASKS)} runs failed: the matrix says why.")
        self.says(page, "Statement 7 holds for all x < y & every <key>.")
        self.says(page, "with uncommitted changes")

    def test_nothing_is_fetched(self):
        variants = synthetic.write_runs(self.runs, steps=40, families=synthetic.SMALL)
        synthetic.write_claims(self.verdicts, variants[:3], count=12)
        page = self.written(self.runs, self.verdicts)
        for reference in page.references:
            self.assertTrue(reference.startswith(("data:", "#")), reference[:80])
            if reference.startswith("#"):
                self.assertIn(reference[1:], page.ids)
        self.assertEqual(len(page.ids), len(set(page.ids)))
        self.assertNotRegex(page.source, r"https?://|url\(|@import")
        self.assertIn("default-src 'none'", page.source)

    def test_a_failed_claim_is_seen_as_failed(self):
        synthetic.write_claims(self.verdicts, [("additive", "linear")], count=14, failing=1, kernels=[])
        page = self.written(self.verdicts)
        failed = [row for row in page.rows if row["data-outcome"] == "failed"]
        self.assertEqual([row["id"] for row in failed], ["claim-claim-13"])
        self.assertIs(page.rows[0], failed[0])
        self.assertIn("failed", page.ids)
        self.says(page, "✗ FAILED")
        self.says(page, "It was expected to come out as “refuted” and came out as “holds”.")
        self.says(page, "13 / 14")
        synthetic.write_claims(self.verdicts, [("additive", "linear")], count=14, failing=0, kernels=[])
        page = self.written(self.verdicts)
        self.assertNotIn("failed", page.ids)
        self.assertFalse("✗ FAILED" in page.text)
        self.says(page, "14 / 14")

    def test_a_missing_part_says_which_command_fills_it(self):
        variants = synthetic.write_runs(self.runs, steps=40, families=synthetic.SMALL)
        page = self.written(self.runs)
        self.says(page, "No file holds verdicts. recollect verify -o v.h5")
        self.says(page, "No file holds the claims snr_*")
        self.assertFalse(os.path.exists(os.path.join(self.out, "figures", "snr_curves.png")))
        synthetic.write_claims(self.verdicts, variants[:2], count=8, kernels=[])
        page = self.written(self.verdicts)  # replaces the earlier report, figures and all
        self.says(page, "No file holds runs. recollect run --variants all --tasks all -o r.h5")
        self.says(page, "No file holds runs of the task swap.")
        self.assertFalse(os.path.exists(os.path.join(self.out, "figures", "matrix.png")))

    def test_refusals(self):
        missing, text, foreign, cut, later, broken = (
            os.path.join(self.folder, n) for n in ("no.h5", "t.h5", "f.h5", "c.h5", "l.h5", "b.h5")
        )
        synthetic.write_claims(self.verdicts, [("additive", "linear")], count=6, kernels=[])
        with open(text, "w") as f:
            f.write("not HDF5")
        with h5py.File(foreign, "w") as f:
            f["o"] = [1.0]
        with open(self.verdicts, "rb") as whole, open(cut, "wb") as f:
            f.write(whole.read(4000))
        for path, change in (
            (later, lambda f: f.attrs.modify("schema_version", 99)),
            (broken, lambda f: f.__delitem__("claim_texts")),
        ):
            with open(self.verdicts, "rb") as whole, open(path, "wb") as f:
                f.write(whole.read())
            with h5py.File(path, "a") as f:
                change(f)
        self.refused("no such file: " + missing, self.verdicts, missing)
        self.refused(f"{text} is not a readable HDF5 file", text)
        self.refused(f"{foreign} holds no recollect results", self.verdicts, foreign)
        self.refused(f"{cut} is not a readable HDF5 file", cut)
        self.refused("schema version 99", later)
        self.refused(f"{broken} is damaged", broken)
        self.refused("is not a folder", self.verdicts, out=text)
        os.makedirs(os.path.join(self.folder, "mine", "figures"))
        self.refused("belongs to no report", self.verdicts, out=os.path.join(self.folder, "mine"))
        self.assertEqual(run(self.verdicts).returncode, 2)

    def test_reading(self):
        variants = synthetic.write_runs(self.runs, steps=12, families=synthetic.SMALL)
        synthetic.write_claims(self.verdicts, variants[:1], count=9)
        results = read.read([self.runs, self.verdicts, self.verdicts])
        self.assertEqual(len(results["cases"]), len(variants) * len(synthetic.TASKS))
        self.assertEqual(len(results["claims"]), 9)  # a claim measured twice counts once
        case = next(c for c in results["cases"] if c["task"] == "swap" and c["status"] == "ok")
        self.assertEqual(
            (case["params"]["swap"]["n"], len(case["series"]["state_accuracy_by_step"]), case["family"]),
            (16, 12, "additive"),
        )
        snr = results["claims"][0]
        self.assertEqual(
            snr["points"][0]["params"],
            {"kernel": "linear", "n": 16, "d": 16, "dv": 16, "quantity": "snr_inverse", "method": "quadrature"},
        )
        self.assertEqual(read.decisive(snr)["tier"], "paper")
        self.assertEqual(snr["covers"], ["row-0", "row-0-b"])

    def test_matrix(self):
        variants = synthetic.write_runs(self.runs, steps=12)
        table = matrix.build(read.read([self.runs]))
        self.assertEqual(table["metric"], synthetic.TASKS)
        counted = matrix.counts(table)
        self.assertEqual(sum(counted.values()), len(set(v for _, v in variants)) * len(synthetic.TASKS))
        self.assertEqual((counted["meaningless"], counted["failed"], counted["not run"]), (8, 1, 1))
        for cell in table["cell"].values():
            self.assertTrue(cell["value"] is not None if cell["status"] == "ok" else cell["reason"])
        low, high = (matrix.colours(x) for x in (0, 1))
        self.assertNotEqual(low, high)
        self.assertEqual([matrix.direction(m) for m in ("accuracy", "loss_late", "rank")], [1, -1, 0])

    def test_explanations(self):
        def claim(**changes):
            paper = synthetic.point("paper", {"d": 2}, 1.5, 1.0, verdict="refuted")
            wide = synthetic.point("paper", {"d": 64}, 9.0, 1.0, verdict="refuted")
            base = dict(
                id="x",
                verdict="refuted",
                expected="refuted",
                scope="paper",
                passed=True,
                covers=[],
                control_verdict="refuted",
                points=[wide, paper, synthetic.point("corrected", {"d": 2}, 1.5, 1.5)],
            )
            return dict(base, **changes)

        said = explain.explain(claim())
        self.assertEqual(
            said[0], "At d = 2, 1.5 was measured where the statement gives 1."
        )  # the smallest counter-example
        self.assertIn("holds at the one point where it was measured", said[1])
        self.assertIn("trains nothing", " ".join(explain.explain(claim(scope="untrained"))))
        self.assertFalse(explain.needs_explaining(claim(scope="typo")))
        self.assertFalse(explain.needs_explaining(claim(expected="holds")))  # our failure is never told as the paper's
        self.assertIn("nothing measured is never a pass", explain.why_failed(claim(points=[], passed=False))[0])
        self.assertIn("control", explain.why_failed(claim(passed=False, control_verdict="holds"))[0])
        for row, written in explain.TEXTS["claims"].items():
            self.assertLessEqual(set(written), {"holds", "stops", "instead"}, row)
            for sentence in written.values():
                self.assertRegex(sentence, r"^[A-Z0-9].*\.$", row)
                self.assertEqual(len(re.findall(r"[.!?] [A-Z]", sentence)), 0, f"{row}: one sentence a part")
            self.assertLessEqual(len(explain.explain(claim(id=row, scope="untrained"))), 5)

    def test_no_claim_lacks_its_text(self):
        listed = subprocess.run(
            [os.environ["RECOLLECT_PROGRAM"], "list", "claims", "--json"], capture_output=True, text=True, check=True
        )
        for claim in json.loads(listed.stdout):
            if claim["expected"] in ("refuted", "holds_asymptotically") and claim["scope"] != "typo":
                self.assertIn(claim["id"].replace("_", "-"), explain.TEXTS["claims"])

    def test_numbers(self):
        shown = {
            0: "0",
            12: "12",
            1234567: "1\u202f234\u202f567",
            0.5: "0.5",
            -1.5: "−1.5",
            1.5e-7: "1.5×10⁻⁷",
            float("nan"): "not a number",
            float("inf"): "∞",
            123456.0: "1.235×10⁵",
            "softmax": "softmax",
        }
        for value, text in shown.items():
            self.assertEqual(style.number(value), text)


if __name__ == "__main__":
    unittest.main()
