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
import unittest.mock

import h5py

HERE = os.path.dirname(os.path.abspath(__file__))
REPORTS = os.path.join(HERE, "..", "..", "reports")
sys.path[:0] = [HERE, REPORTS]
import cells  # noqa: E402
import explain  # noqa: E402
import findings  # noqa: E402
import maths  # noqa: E402
import matrix  # noqa: E402
import progress  # noqa: E402
import read  # noqa: E402
import report  # noqa: E402
import run_figures  # noqa: E402
import site_pages  # noqa: E402
import speed_figures  # noqa: E402
import style  # noqa: E402
import synthetic  # noqa: E402
import trainings  # noqa: E402

FIGURES = ["snr_curves", "paper_error", "swap_accuracy", "regression_loss", "equivalence", "bound_used", "pulls", "power", "capacity", "cost_recall"]


def run(*arguments):
    return subprocess.run(
        [sys.executable, os.path.join(REPORTS, "report.py"), *arguments], capture_output=True, text=True
    )


class Page(html.parser.HTMLParser):
    """What a page refers to, its anchors, its images and its text."""

    def __init__(self, path):
        super().__init__()
        self.references, self.ids, self.words, self.rows, self.images = [], [], [], [], []
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
        if tag == "img":
            self.images.append(dict(attributes))

    def handle_endtag(self, tag):
        self.quiet = None

    def handle_data(self, data):
        if not self.quiet:
            self.words.append(data)

    @property
    def text(self):
        return " ".join("".join(self.words).split())


class Report(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.runs, self.verdicts, self.out = (os.path.join(self.folder, n) for n in ("r.h5", "v.h5", "out"))

    def written(self, *files):
        done = run(*files, "-o", self.out)
        said = [line for line in done.stderr.splitlines() if not line.endswith("] figures")]  # progress, once a minute
        self.assertEqual((done.returncode, said), (0, []))
        return self.page("index.html")

    def page(self, path):
        return Page(os.path.join(self.out, path))

    def pages(self):
        found = {}
        for folder, _, files in os.walk(self.out):
            for name in files:
                if name.endswith(".html"):
                    path = os.path.relpath(os.path.join(folder, name), self.out)
                    found[path] = self.page(path)
        return found

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
        index = self.written(self.runs, self.verdicts)
        for name in FIGURES:
            for ending, least in (("png", 5000), ("svg", 4000)):
                self.assertGreater(os.path.getsize(os.path.join(self.out, "figures", f"{name}.{ending}")), least, name)
        pages = self.pages()
        ledger, layers = pages["ledger.html"], pages["layers.html"]
        self.assertEqual(len(ledger.rows), len(ids))
        for id in ids:
            self.assertIn(f"claims/{id}.html", pages)
        for _, variant in variants:
            self.assertIn(f"layers/{variant}.html", pages)
            self.says(layers, variant)
        for task in synthetic.TASKS:
            self.assertIn(f"tasks/{task}.html", pages)
        self.says(layers, f"{len({v for _, v in variants})} layers × {len(synthetic.TASKS)} tasks")
        self.says(layers, "the layer holds fixed weights and cannot be written to")
        self.says(layers, "softmax: <needs> a finite scale & more")  # escaped, hence read back as it was
        self.says(layers, "the run ended before it")
        self.says(index, "softmax: <needs> a finite scale & more")
        self.says(pages["claims/claim_7.html"], "Statement 7 holds for all x < y & every <key>.")
        self.says(pages["claims/claim_7.html"], "Because of 7.")
        self.says(pages["claims/claim_9.html"], "2 of 2 rivals refuted")
        self.says(pages["claims/claim_7.html"], "recollect verify claim_7 --seed 1 --points")
        self.says(pages["claims/claim_7.html"], "@misc{recollect_claim_7")
        self.says(index, "with uncommitted changes")
        self.assertEqual([w in index.text for w in ("Expected", "Found", "New: where the text")], [True] * 3)
        self.assertTrue(1 <= index.source.split('<ol class="news">')[1].split("</ol>")[0].count("<li>") <= 5)
        delta = next(row for row in ledger.rows if row["id"] == "claim-claim_7")
        self.assertIn("delta_net", delta["data-key"])  # claims are found by the layers that they speak of
        self.assertIn("variational linear attention", delta["data-key"])  # and by their paper's name

    def test_nothing_is_fetched_and_every_link_lands(self):
        variants = synthetic.write_runs(self.runs, steps=40, families=synthetic.SMALL)
        synthetic.write_claims(self.verdicts, variants[:3], count=12)
        self.written(self.runs, self.verdicts)
        pages = self.pages()
        for path, page in pages.items():
            self.assertEqual(len(page.ids), len(set(page.ids)), path)
            self.assertIn("default-src 'none'", page.source)
            self.assertNotRegex(page.source, r"url\(|@import")
            for image in page.images:  # lazy images keep their place, so that anchors stay where they are
                self.assertTrue(int(image["width"]) > 0 and int(image["height"]) > 0 and image["alt"], path)
            for reference in page.references:
                if reference.startswith("https://arxiv.org/"):
                    continue  # a link to a paper; nothing is loaded from it
                self.assertNotRegex(reference, r"^[a-z]+:|^//")
                file, _, anchor = reference.partition("#")
                target = os.path.normpath(os.path.join(os.path.dirname(path), file)) if file else path
                self.assertTrue(os.path.exists(os.path.join(self.out, target)), f"{path} -> {reference}")
                if anchor and "=" not in anchor:
                    self.assertIn(anchor, pages[target].ids, f"{path} -> {reference}")

    def test_a_failed_claim_is_seen_as_failed(self):
        synthetic.write_claims(self.verdicts, [("additive", "linear")], count=14, failing=1, kernels=[])
        index = self.written(self.verdicts)
        rows = self.page("ledger.html").rows
        self.assertEqual([row["id"] for row in rows if row["data-outcome"] == "failed"], ["claim-claim_13"])
        self.assertEqual(rows[0]["id"], "claim-claim_13")
        self.assertIn("failed", index.ids)
        self.says(self.page("claims/claim_13.html"), "✗ FAILED")
        self.says(index, "It was expected to come out as “refuted” and came out as “holds”.")
        self.says(index, "11 / 12 as expected")  # two of the fourteen are not tested
        synthetic.write_claims(self.verdicts, [("additive", "linear")], count=14, failing=0, kernels=[])
        index = self.written(self.verdicts)
        self.assertNotIn("failed", index.ids)
        self.says(index, "12 / 12 as expected")

    def test_a_missing_part_says_which_command_fills_it(self):
        variants = synthetic.write_runs(self.runs, steps=40, families=synthetic.SMALL)
        self.written(self.runs)
        self.says(self.page("ledger.html"), "No file holds verdicts. recollect verify -o v.h5")
        self.says(self.page("noise.html"), "No file holds the claims snr_*")
        self.says(self.page("speed.html"), "recollect bench --sweep")
        self.says(self.page("training.html"), "No file holds trained models. recollect train")
        self.assertFalse(os.path.exists(os.path.join(self.out, "figures", "snr_curves.png")))
        synthetic.write_claims(self.verdicts, variants[:2], count=8, kernels=[])
        self.written(self.verdicts)  # replaces the earlier report, figures and all
        self.says(self.page("layers.html"), "No file holds runs. recollect run --tune -o r.h5")
        self.assertFalse(os.path.exists(os.path.join(self.out, "figures", "capacity.png")))
        self.assertFalse(os.path.exists(os.path.join(self.out, "tasks", "recall.html")))

    def test_other_formats(self):
        variants = synthetic.write_runs(self.runs, steps=12, families=synthetic.SMALL)
        ids = synthetic.write_claims(self.verdicts, variants[:2], count=9)
        self.assertEqual(run(self.runs, self.verdicts, "-o", self.out, "--format", "md", "--csv").returncode, 0)
        self.assertEqual(sorted(os.listdir(self.out)), ["cells.csv", "claims.csv", "points.csv", "report.md"])
        with open(os.path.join(self.out, "report.md"), encoding="utf-8") as f:
            text = f.read()
        for id in ids:
            self.assertIn(f"| {id} |", text)
        import csv

        with open(os.path.join(self.out, "cells.csv"), encoding="utf-8", newline="") as f:
            rows = list(csv.DictReader(f))
        self.assertEqual({r["task"] for r in rows}, set(synthetic.TASKS))
        self.assertTrue(all(float(r["mean"]) >= 0 for r in rows if r["status"] == "ok"))

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

        words = ("--variants", "gla,softmax,linear", "--tasks", "recall,online_regression,capacity")
        program("run", *words, "--seeds", "2", "--tune", "-o", self.runs)
        program("verify", "chunk_equals_recurrent", "table2_gla", "snr_linear", "-o", self.verdicts)
        bench = os.path.join(self.folder, "b.h5")
        sweep = ("--shape", "1,1,64,8,8", "--sweep", "T=64:256:*2", "--min-time", "0.001")
        program("bench", "--variants", "linear", *sweep, "-o", bench)
        results = report.load([self.runs, self.verdicts, bench])
        table = matrix.build(results["matrix_cells"])
        told = table["cell"]["softmax", "recall"]
        self.assertEqual((told["headline"], told["direction"], told["count"], told["setting"]), ("accuracy", 1, 2, "tuned"))
        self.assertEqual((told["chance"], told["ceiling"]), (1 / 32, 1))
        self.assertEqual(list(told["chosen"]), [("softmax", "scale")])
        self.assertGreater(told["mean"], 0.9)  # untuned it is at chance
        self.assertEqual(table["cell"]["linear", "online_regression"]["direction"], -1)
        self.assertEqual(told["state_bytes"], 32 * (32 + 32) * 8)
        self.assertEqual([findings.outcome(c) for c in results["claims"]].count("holds"), 2)
        self.assertEqual(len(speed_figures.series(results["bench"])), 1)
        done = subprocess.run(
            [os.environ["RECOLLECT_PROGRAM"], "report", self.runs, self.verdicts, bench, "-o", self.out],
            capture_output=True, text=True,
        )  # fmt: skip
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.says(self.page("index.html"), "3 / 3 as expected.")
        layer = self.page("layers/gated_linear.html")  # with what the program knows of it
        self.says(layer, "6 Dk Dv flops")
        self.says(layer, "Also calledgla")
        self.assertIn("<math>", layer.source)
        self.says(self.page("layers/softmax.html"), "what stands free")
        linear = self.page("layers/linear.html")
        for part in ("Inputsq, k, v", "Cost a token", "State", "Traits", "Parameters", "Accuracy against stored pairs",
                     "On the tasks", "Fast forms against the definition", "Speed", "tokens a second", "Claims that run it", "snr_linear"):  # fmt: skip
            self.says(linear, part)
        self.assertIn('<svg class="curve"', linear.source)
        claim = self.page("claims/snr_linear.html")
        for part in ("Statement (paraphrase)", "Exact form, or condition", "apart (tolerances)", "recollect verify snr_linear --seed 1 --points",
                     "@misc{recollect_snr_linear", "commit", "seed 1"):  # fmt: skip
            self.says(claim, part)
        self.assertTrue(any(r.startswith("https://arxiv.org/") for r in claim.references))
        self.assertEqual([i["src"] for i in claim.images], ["../figures/claim_snr_linear.svg"])
        task = self.page("tasks/recall.html")
        for part in ("accuracy", "softmax", "tuned: scale"):
            self.says(task, part)
        self.assertIn("layers/mamba.html", self.pages())  # also of layers that no file ran
        self.says(self.page("tasks/recall.html"), "chance 0.0312, a perfect memory 1")
        for name in ("time_against_length", "roofline", "cost_recall"):
            self.assertEqual(os.path.exists(os.path.join(self.out, "figures", name + ".svg")), name != "cost_recall")

    def test_trained_models(self):
        suite, trained = os.path.join(self.folder, "s.toml"), os.path.join(self.folder, "t.h5")
        with open(suite, "w", encoding="utf-8") as f:
            f.write('[[train]]\nname = "small"\ntitle = "Pairs & <keys>"\nprinted = "1.000"\nseeds = 2\nset = { mixer = ["linear", "none"], '
                    "convolution = [0, 2], width = 8, heads = 2, ffn = 8, vocabulary = 16, pairs = 2, batch = 4, steps = 30, every = 10, "
                    "evaluate = 2 }\n")  # fmt: skip
        subprocess.run([os.environ["RECOLLECT_PROGRAM"], "train", "--suite", suite, "-o", trained], capture_output=True, check=True)
        (experiment,) = trainings.experiments(report.load([trained]))
        self.assertEqual([(r["mixer"], r["shown"], r["count"]) for r in experiment["rows"]],
                         [(m, f"convolution = {c}", 2) for c in (0, 2) for m in ("linear", "none")])  # fmt: skip
        for row in experiment["rows"]:
            self.assertAlmostEqual(row["mean"], sum(r["accuracy"] for r in row["runs"]) / 2)
            self.assertEqual(row["chance"], 0.5)
            self.assertEqual([step for step, _, _ in row["runs"][0]["curve"]], [10, 20, 30])
        self.written(trained)
        page = self.page("training.html")
        self.says(page, "Pairs & <keys>")
        self.says(page, "Printed. 1.000")
        self.assertTrue(os.path.exists(os.path.join(self.out, "figures", "training_0.svg")))
        self.assertNotIn("Pairs", self.page("tasks.html").text)

    def test_first_edition(self):
        """Files of schema version 1 keep their verdicts; tiers become roles, and the control a rival."""
        synthetic.write_first_edition(self.verdicts)
        (old,) = read.read([self.verdicts])["claims"]
        self.assertEqual([p["role"] for p in old["points"]], ["statement", "obligation"])
        self.assertEqual([(p["label"], p["params"]) for p in old["rivals"]], [("control", {})])
        self.assertEqual((findings.outcome(old), old["points"][0]["params"]), ("refuted", {"d": 2}))
        self.written(self.verdicts)
        page = self.page("claims/old.html")
        self.says(page, "1 of 1 rivals refuted")
        self.says(page, "At d = 2 (paper), 1.5 was measured where the statement gives 1.")

    def test_what_was_found_heads_the_page(self):
        synthetic.write_claims(self.verdicts, [("additive", "linear")], count=40, failing=1, kernels=[])
        claims = read.read([self.verdicts])["claims"]
        found = findings.counts(claims)
        one_each = dict.fromkeys(("holds_asymptotically", "refuted", "boundary", "typo", "untrained"), 1)
        self.assertEqual(found, {"holds": 32, **one_each, "not_tested": 2, "failed": 1})
        self.assertEqual(list(found), [name for name in findings.FOUND if name in found])
        self.assertTrue(set(style.OUTCOMES) == set(findings.FOUND) == set(site_pages.MARKS))
        page = self.written(self.verdicts)
        self.says(page, "37 / 38 as expected. 32 ● statements hold, 1 ◐ holds in a limit, 1 ○ refuted as asserted")
        self.says(page, "2 more cannot be tested (1 needs training, 1 not numeric)")
        self.assertNotIn("<blockquote", page.source)

    def test_matrix(self):
        variants = synthetic.write_runs(self.runs, steps=12)
        table = matrix.build(report.load([self.runs])["matrix_cells"])
        counted = matrix.counts(table)
        self.assertEqual(sum(counted.values()), len(set(v for _, v in variants)) * len(synthetic.TASKS))
        self.assertEqual((counted["meaningless"], counted["failed"], counted["not run"]), (8, 1, 1))
        for (_, task), cell in table["cell"].items():
            self.assertEqual(cell["headline"], synthetic.TASKS[task][0])
            self.assertTrue(cell["mean"] == cell["mean"] if cell["status"] == "ok" else cell["reason"])
        low, high = (matrix.colours(x) for x in (0, 1))
        self.assertNotEqual(low, high)
        self.assertEqual(max(matrix.shade(table, "online_regression").values()), 1)  # the smallest loss

    def test_cells_never_average_over_settings(self):
        def case(**changes):
            base = dict(experiment="", task="recall", variant="linear", family="additive", form="chunked", real="f64", chunk=64,
                        seed=1, params={"recall": {"n": 4}, "linear": {"scale": 1.0}}, chosen={}, setting="fixed", status="ok",
                        reason="", headline="accuracy", better="larger", chance=0.25, ceiling=1.0, metrics={"accuracy": 0.5},
                        seconds=[], series={}, state_bytes=8.0, flops=4.0)  # fmt: skip
            return {**base, **changes}

        two = [case(), case(seed=2, metrics={"accuracy": 0.7})]
        wide = case(params={"recall": {"n": 8}, "linear": {"scale": 1.0}})
        trial = case(setting="trial", metrics={"accuracy": 0.0})
        found = cells.cells({"cases": [*two, wide, trial]})
        self.assertEqual([c["count"] for c in found], [2, 1])
        self.assertAlmostEqual(found[0]["mean"], 0.6)
        self.assertAlmostEqual(found[0]["error"], 0.1)
        self.assertEqual(cells.varying(found), {"n": [4, 8]})
        chosen = {("linear", "scale"): 0.2}
        tuned = cells.cells({"cases": [case(chosen=chosen), case(seed=2, chosen=chosen)]})
        self.assertEqual([(c["count"], cells.tuning(dict(c, setting="tuned"))) for c in tuned], [(2, "tuned: scale = 0.2")])
        failed = cells.cells({"cases": [case(), case(seed=2, status="failed", reason="why", metrics={})]})[0]
        self.assertEqual((failed["status"], failed["reason"], failed["metrics"]), ("failed", "why", {}))
        twins = cells.cells({"cases": [case(), case(variant="other", metrics={"accuracy": 0.5 + 1e-12}), case(variant="third", metrics={"accuracy": 0.5001})]})
        self.assertEqual(cells.coincidences(twins), {"linear": "a", "other": "a"})

    def test_a_sweep_of_one_seed_is_drawn_without_bars(self):
        def cell(n, errors, seeds=1):
            base = dict(experiment="e", task="recall", variant="linear", status="ok", headline="accuracy", direction=1, setting="fixed")
            return dict(base, mean=1 / n, error=errors, count=seeds, chosen={}, params={"recall": {"n": n, "d": 16, "dv": 16}, "linear": {}})  # fmt: skip

        for errors, seeds in ((float("nan"), 1), (0.1, 5)):
            sweep = [cell(n, errors, seeds) for n in (4, 8, 16, 32)]
            for figure in (run_figures.experiment(sweep), run_figures.by_load(sweep)):
                (bars,) = figure.axes[0].containers
                self.assertEqual([round(float(y), 3) for y in bars[0].get_ydata()], [0.25, 0.125, 0.062, 0.031])
        self.assertIsNone(run_figures.experiment([cell(4, 0.1)]))  # nothing varies

    def test_the_front_is_what_nothing_beats_at_less_cost(self):
        self.assertEqual(cells.pareto([(1, 0.2), (2, 0.1), (3, 0.9), (2, 0.5), (9, 0.9)], 1), [0, 3, 2])
        self.assertEqual(cells.pareto([(1, 5.0), (2, 1.0), (3, 2.0)], -1), [0, 1])

    def test_the_linear_memory_s_theory(self):
        """Against a direct simulation: unit keys, Gaussian values, the right value must have the largest inner product."""
        import numpy as np

        draw = np.random.default_rng(1)
        for n, d, dv in ((8, 16, 16), (32, 16, 16), (64, 32, 32)):
            right = 0
            for _ in range(2000):
                k = draw.normal(size=(n, d))
                k /= np.linalg.norm(k, axis=1, keepdims=True)
                v = draw.normal(size=(n, dv))
                right += int(np.argmax(v @ (v.T @ (k @ k[0]))) == 0)
            theory = run_figures.linear_memory_accuracy(n, d, dv)
            self.assertLess(abs(right / 2000 - theory), 0.06, (n, d, dv, right / 2000, theory))  # terms are not independent
        self.assertAlmostEqual(run_figures.linear_memory_accuracy(1, 16, 16), 1)

    def test_maths(self):
        shown = str(maths.maths("A_t = I - beta_t k_t^T <= sqrt(d) of delta_net, (1+a)^(-d/2) & <b>"))
        for part in ("<msub>", "<mi>β</mi>", "<msubsup>", "≤", "<msqrt>", "delta_net", "&amp; &lt;b&gt;"):
            self.assertIn(part, shown)
        self.assertNotIn("_t", shown)
        self.assertEqual(str(maths.maths("no maths in a sentence, nor in 12 words")), "no maths in a sentence, nor in 12 words")

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

    def test_progress_is_a_line_a_minute_in_a_pipe(self):
        heard, said = os.pipe()
        self.addCleanup(os.close, heard)
        now = 0.0
        with unittest.mock.patch("progress.time.monotonic", lambda: now):
            shown = progress.Progress("figures", 100, said)
            for now in (1, 59, 61, 90, 120, 122):
                shown.advance(10)
            shown.end()
        os.close(said)
        self.assertEqual(os.read(heard, 4096).decode(), "[30/100] figures, 2:22 remaining\n[60/100] figures, 1:21 remaining\n")

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
