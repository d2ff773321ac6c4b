# SPDX-License-Identifier: Apache-2.0
"""The pages: for files of full size, with one part missing, and of schema version 1."""
import os
import re
import unittest
from dataclasses import replace

from pages import ReportCase  # noqa: I001: finds the modules below
from reports import findings
import pages
from reports import read
from reports.site import frame
from reports.figures import style
import synthetic

FIGURES = ["snr_curves", "paper_error", "swap_accuracy", "regression_loss", "equivalence", "bound_used", "pulls", "power", "capacity", "cost_recall"]


class Site(ReportCase):
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
        self.says(layers, "softmax: <needs> a finite scale & more")  # escaped, so that it reads back unchanged
        self.says(layers, "the run ended before it")
        self.says(index, "softmax: <needs> a finite scale & more")
        self.says(pages["claims/claim_7.html"], "Statement 7 holds for all x < y & every <key>.")
        self.says(pages["claims/claim_7.html"], "Because of 7.")
        self.says(pages["claims/claim_9.html"], "2 of 2 rivals refuted")
        self.says(pages["claims/claim_9.html"], "recollect verify claim_9 --seed 1 --points")
        self.says(pages["claims/claim_7.html"], "@misc{recollect_claim_7")
        self.says(index, "with uncommitted changes")
        self.assertEqual([w in index.text for w in ("Which layer should I use?", "Is my kernel right?", "Is this claim true?")], [True] * 3)
        delta = next(row for row in ledger.rows if row["id"] == "claim-claim_7")
        self.assertIn("delta_net", delta["data-key"])  # claims are found by the layers that they mention
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
            for image in page.images:  # lazy images reserve their space, so that anchors do not move
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

    def test_no_page_runs_a_script_of_its_own(self):
        """The policy of every page only allows the site's own scripts, and no page needs others."""
        synthetic.write_claims(self.verdicts, synthetic.write_runs(self.runs, steps=40, families=synthetic.SMALL)[:3], count=12)
        self.written(self.runs, self.verdicts)
        for path, page in self.pages().items():
            policies = re.findall(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', page.source)
            self.assertEqual(len(policies), 1, path)
            rules = dict(rule.strip().split(" ", 1) for rule in policies[0].split(";"))
            own = "'self' file:"  # a site opened from disk has file: addresses
            self.assertEqual(rules, {"default-src": "'none'", "img-src": own, "style-src": own + " 'unsafe-inline'",
                                     "script-src": own, "font-src": own, "base-uri": "'none'", "form-action": "'none'"})  # fmt: skip
            self.assertLess(page.source.index(policies[0]), page.source.index("<title>"), path)  # before anything is loaded
            for words, text in re.findall(r"<script\b([^>]*)>(.*?)</script>", page.source, re.S):
                self.assertTrue("application/json" in words or not text.strip(), path)  # data blocks are not executed
            self.assertNotRegex(page.source, r"<[a-zA-Z][^>]*\son[a-z]+\s*=", path)
            self.assertNotRegex(page.source, r"(?i)(href|src)\s*=\s*[\"']?\s*(javascript|data|vbscript):", path)

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
        self.written(self.verdicts)  # replaces the earlier report, including its figures
        self.says(self.page("layers.html"), "No file holds runs. recollect run --tune -o r.h5")
        self.assertFalse(os.path.exists(os.path.join(self.out, "figures", "capacity.png")))
        self.assertFalse(os.path.exists(os.path.join(self.out, "tasks", "recall.html")))

    def test_a_baseline_has_verdicts_without_texts(self):
        """ci/baseline.h5 only stores verdicts; next to a file that measured the same claim it adds nothing."""
        baseline = os.path.join(pages.HERE, "..", "..", "ci", "baseline.h5")
        index = self.written(baseline)
        kept = read.read([baseline]).claims
        tested = [c for c in kept if not c.reason]
        self.says(index, f"{len(tested)} / {len(tested)} as expected.")
        self.assertEqual({c.reason for c in kept}, {"", "reason_not_in_the_file"})
        self.assertGreater(len(kept) - len(tested), 10)
        synthetic.write_claims(self.verdicts, [("additive", "linear")], count=9)
        ours = [c for c in read.read([self.verdicts, baseline]).claims if c.source]
        self.assertEqual(ours, read.read([baseline, self.verdicts]).claims[-9:])
        self.assertIn("snr_linear", [c.id for c in ours])  # the baseline has it, too

    def test_a_scope_stands_beside_every_verdict(self):
        synthetic.write_claims(self.verdicts, [("additive", "linear")], count=42, failing=0, kernels=[])
        claims = {c.id: c for c in read.read([self.verdicts]).claims}
        told = {id: findings.verdict_text(c) for id, c in claims.items() if c.scope or c.reason}
        self.assertEqual(sorted(set(told.values())), ["not tested (needs training)", "not tested (not numeric)", "refuted (boundary)",
                                                      "refuted (paper)", "refuted (typo)", "refuted (untrained)"])  # fmt: skip
        under = replace(claims["claim_8"], verdict="holds_under", scope="", reason="", condition="|k| < 2")
        self.assertEqual(findings.verdict_text(under), "holds under (|k| < 2)")
        index = self.written(self.verdicts)
        ledger = self.page("ledger.html")
        for id, text in told.items():
            self.says(self.page(f"claims/{id}.html"), text)
            self.says(ledger, text)
        # One answer to "how many of a paper are refuted?": by scope, and the parts add up.
        for paper in ("000", "002", "003", "004"):
            mine = [c for c in claims.values() if c.source.startswith(paper)]
            parts = ", ".join(f"{n} {findings.FOUND[o][n != 1]}" for o, n in findings.counts(mine).items())
            self.says(index, f"{len(mine)} claims: {parts}")
            self.assertEqual(sum(findings.counts(mine).values()), len(mine))
            rows = [r["data-outcome"] for r in ledger.rows if r["data-paper"] == paper]
            self.assertEqual({o: rows.count(o) for o in rows}, findings.counts(mine))

    def test_first_edition(self):
        """Files of schema version 1 keep their verdicts; tiers become roles, and points of the control become
        rivals."""
        synthetic.write_first_edition(self.verdicts)
        (old,) = read.read([self.verdicts]).claims
        self.assertEqual([p.role for p in old.points], ["statement", "obligation"])
        self.assertEqual([(p.label, p.params) for p in old.rivals], [("control", {})])
        self.assertEqual((findings.outcome(old), old.points[0].params), ("refuted", {"d": 2}))
        self.written(self.verdicts)
        page = self.page("claims/old.html")
        self.says(page, "1 of 1 rivals refuted")
        self.says(page, "At d = 2 (paper), 1.5 was measured where the statement gives 1.")

    def test_what_was_found_heads_the_page(self):
        synthetic.write_claims(self.verdicts, [("additive", "linear")], count=40, failing=1, kernels=[])
        claims = read.read([self.verdicts]).claims
        found = findings.counts(claims)
        one_each = dict.fromkeys(("holds_asymptotically", "refuted", "boundary", "typo", "untrained"), 1)
        self.assertEqual(found, {"holds": 32, **one_each, "not_tested": 2, "failed": 1})
        self.assertEqual(list(found), [name for name in findings.FOUND if name in found])
        self.assertTrue(set(style.OUTCOMES) == set(findings.FOUND) == set(frame.MARKS))
        page = self.written(self.verdicts)
        self.says(page, "37 / 38 as expected. 32 ● statements hold, 1 ◐ holds in a limit, 1 ○ refuted as asserted")
        self.says(page, "2 more cannot be tested (needs training: 1, not numeric: 1)")
        self.assertNotIn("<blockquote", page.source)


if __name__ == "__main__":
    unittest.main()
