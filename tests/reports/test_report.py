# SPDX-License-Identifier: Apache-2.0
"""The report on files of the final size, on files with one part missing, and on everything it must refuse."""
import html.parser
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import h5py

HERE = os.path.dirname(os.path.abspath(__file__))
REPORTS = os.path.join(HERE, "..", "..", "reports")
sys.path[:0] = [HERE, REPORTS]
import explain  # noqa: E402
import findings  # noqa: E402
import markup  # noqa: E402
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
    "power",
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
        self.says(page, "Because of 7.")
        self.says(page, "2 rivals")

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
        self.says(page, "11 / 12")  # two of the fourteen are not tested
        synthetic.write_claims(self.verdicts, [("additive", "linear")], count=14, failing=0, kernels=[])
        page = self.written(self.verdicts)
        self.assertNotIn("failed", page.ids)
        self.assertFalse("✗ FAILED" in page.text)
        self.says(page, "12 / 12")

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

    def started(self, runs):
        """A report on its way, with its workers: (process, ids of its children)."""
        process = subprocess.Popen([sys.executable, os.path.join(REPORTS, "report.py"), runs, "-o", self.out],
                                   stderr=subprocess.PIPE, text=True)  # fmt: skip
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.kill)
        children, limit = [], time.monotonic() + 60
        while not children and time.monotonic() < limit:
            self.assertIsNone(process.poll(), "the report ended before it started to draw")
            with open(f"/proc/{process.pid}/task/{process.pid}/children") as f:
                children = [int(child) for child in f.read().split()]
        return process, children

    def test_a_dead_worker_is_an_error_and_no_wait(self):
        synthetic.write_runs(self.runs)
        process, children = self.started(self.runs)
        os.kill(children[0], signal.SIGKILL)
        _, said = process.communicate(timeout=60)
        self.assertEqual((process.returncode, said.count("\n")), (3, 1), said)
        self.assertIn("a process that drew figures died", said)
        self.assertEqual(os.listdir(self.folder), ["r.h5"])

    def test_nothing_goes_on_after_the_parent(self):
        synthetic.write_runs(self.runs)
        for by in signal.SIGTERM, signal.SIGKILL:
            process, children = self.started(self.runs)
            process.send_signal(by)
            process.wait(timeout=60)
            limit = time.monotonic() + 5
            while any(os.path.exists(f"/proc/{child}") for child in children):
                self.assertLess(time.monotonic(), limit, f"{by.name}: workers live on")
                time.sleep(0.01)
            if by == signal.SIGTERM:
                self.assertEqual(os.listdir(self.folder), ["r.h5"])

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
        self.assertEqual(snr["points"][0]["params"], {"kernel": "linear", "n": 16, "d": 16, "dv": 16})
        self.assertEqual(findings.decisive(snr)["role"], "statement")
        self.assertEqual((len(snr["points"]), len(snr["rivals"])), (22, 7))
        self.assertEqual((snr["rivals"][0]["rival"], snr["rivals"][0]["params"]["d"]), ("law", 16))
        self.assertEqual((snr["covers"], snr["explanation"]), (["row-0", "row-0-b"], "Because of 0."))

    def test_files_of_the_program_itself(self):
        def program(*words):
            subprocess.run([os.environ["RECOLLECT_PROGRAM"], *words], capture_output=True, check=True)

        program("run", "--variants", "gla,softmax", "--tasks", "recall,online_regression", "-o", self.runs)
        program("verify", "chunk_equals_recurrent", "table2_gla", "-o", self.verdicts)
        results = read.read([self.runs, self.verdicts])
        table = matrix.build(results)
        self.assertEqual(table["metric"], {"online_regression": "loss_late", "recall": "accuracy"})
        self.assertEqual(table["direction"], {"online_regression": -1, "recall": 1})
        self.assertEqual([findings.outcome(c) for c in results["claims"]], ["holds", "holds"])
        for claim in results["claims"]:
            self.assertTrue(claim["points"] and claim["rivals"] and claim["system"] == "layer" and claim["variants"])
        page = self.written(self.runs, self.verdicts)
        self.says(page, "2 / 2 tested claims as expected: 2 layer")
        self.says(page, "gated_linear")

    def test_first_edition(self):
        """Files of schema version 1 keep their verdicts; tiers become roles, and the control a rival."""
        synthetic.write_first_edition(self.verdicts)
        (old,) = read.read([self.verdicts])["claims"]
        self.assertEqual([p["role"] for p in old["points"]], ["statement", "obligation"])
        self.assertEqual([(p["label"], p["params"]) for p in old["rivals"]], [("control", {})])
        self.assertEqual((findings.outcome(old), old["points"][0]["params"]), ("refuted", {"d": 2}))
        page = self.written(self.verdicts)
        self.says(page, "1 of 1 rivals refuted")
        self.says(page, "At d = 2 (paper), 1.5 was measured where the statement gives 1.")

    def test_what_was_found_heads_the_page(self):
        synthetic.write_claims(self.verdicts, [("additive", "linear")], count=40, failing=1, kernels=[])
        claims = read.read([self.verdicts])["claims"]
        found = findings.counts(claims)
        one_each = dict.fromkeys(("holds_asymptotically", "refuted", "boundary", "typo", "untrained"), 1)
        self.assertEqual(found, {"holds": 32, **one_each, "not_tested": 2, "failed": 1})
        self.assertEqual(list(found), [name for name in findings.FOUND if name in found])
        self.assertTrue(set(style.OUTCOMES) == set(findings.FOUND) == set(markup.MARKS))
        page = self.written(self.verdicts)
        self.says(page, "32 ● statements hold 1 ◐ holds in a limit 1 ○ refuted as asserted")
        self.says(page, "2 – not tested (1 needs training, 1 not numeric)")
        self.says(page, "37 / 38 tested claims as expected: 19 algebra, 19 layer")
        self.assertNotIn("<blockquote", page.source)

    def test_rivals_stand_in_the_page(self):
        synthetic.write_claims(self.verdicts, [("additive", "linear")], count=3, failing=0, kernels=[])
        page = self.written(self.verdicts)
        self.says(page, "2 of 2 rivals refuted")
        self.says(page, "erase sign flipped system d = 2 2 1 exact 1×10⁻¹² 1×10¹² refuted")

    def test_matrix(self):
        variants = synthetic.write_runs(self.runs, steps=12)
        table = matrix.build(read.read([self.runs]))
        self.assertEqual(table["metric"], {task: metric for task, (metric, _) in synthetic.TASKS.items()})
        counted = matrix.counts(table)
        self.assertEqual(sum(counted.values()), len(set(v for _, v in variants)) * len(synthetic.TASKS))
        self.assertEqual((counted["meaningless"], counted["failed"], counted["not run"]), (8, 1, 1))
        for cell in table["cell"].values():
            self.assertTrue(cell["value"] is not None if cell["status"] == "ok" else cell["reason"])
        low, high = (matrix.colours(x) for x in (0, 1))
        self.assertNotEqual(low, high)
        self.assertEqual([table["direction"][t] for t in ("recall", "online_regression", "angles")], [1, -1, 0])
        self.assertEqual(max(matrix.shade(table, "online_regression").values()), 1)  # the smallest loss

    def test_explanations(self):
        def claim(**changes):
            stated = synthetic.point("statement", {"d": 2}, 1.5, 1.0, verdict="refuted")
            wide = synthetic.point("statement", {"d": 64}, 9.0, 1.0, verdict="refuted")
            corrected = synthetic.point("obligation", {"d": 2}, 1.5, 1.5)
            base = dict(id="x", verdict="refuted", expected="refuted", scope="paper", reason="", passed=True, covers=[])
            points = dict(points=[wide, stated, corrected], rivals=[synthetic.rival({"d": 2}, 1.5, 3.0)])
            return {**base, **points, "explanation": "The square was dropped.", **changes}

        self.assertEqual(
            explain.explain(claim()),
            [
                "The square was dropped.",
                "At d = 2, 1.5 was measured where the statement gives 1.",  # the smallest counter-example
                "The exact form given here holds at the one point where it was measured.",
            ],
        )
        self.assertIn("trains nothing", " ".join(explain.explain(claim(scope="untrained"))))
        self.assertFalse(findings.needs_explaining(claim(scope="typo")))
        self.assertFalse(findings.needs_explaining(claim(expected="holds")))  # our failure is never told as the paper's
        self.assertIn("nothing measured is never a pass", explain.why_failed(claim(points=[], passed=False))[0])
        self.assertIn("no rival", explain.why_failed(claim(rivals=[], passed=False))[0])
        open_rival = dict(synthetic.rival({"d": 2}, 1.5, 1.5), verdict="holds")
        undecided = claim(passed=False, verdict="inconclusive", rivals=[open_rival])
        said = "Its rival “n for n-1” was not refuted, so the check cannot tell the two apart."
        self.assertEqual(explain.why_failed(undecided), [said])
        self.assertIn("samples are too few", explain.why_failed(claim(passed=False, verdict="inconclusive"))[0])

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
