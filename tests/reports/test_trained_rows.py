# SPDX-License-Identifier: Apache-2.0
"""A row of the ledger that needs training has the same verdict everywhere: that of models of the paper's size."""
import glob
import os
import unittest

import pages  # noqa: I001: finds the modules below
from reports import findings
import own_reader as own
from reports import papers
from reports import command as report
from reports import trained_rows
from reports.records import Experiment, Results, Statement, Trained

RESULTS = sorted(glob.glob(os.path.join(pages.HERE, "..", "..", "reports", "results", "*.h5")))
BASELINE = os.path.join(pages.HERE, "..", "..", "ci", "baseline.h5")


def results_of(*stated):
    """Results with one statement each: (row, experiment, verdict); experiments are (name, printed, width)."""
    sizes = dict(small=("Table 1", 32), large=("Table 1", 128), control=("", 128), wide_control=("", 256))
    statements = [Statement(row=row, experiment=e, verdict=verdict) for row, e, verdict in stated]
    return Results(
        statements=statements,
        trainings=[
            Trained(e, "linear", 1, settings=dict(width=w, layers=2, task="mqar")) for e, (_, w) in sizes.items()
        ],
        experiments={e: Experiment(e, e, printed) for e, (printed, _) in sizes.items()},
    )


class Rows(unittest.TestCase):
    def test_the_widest_models_of_what_is_printed_decide(self):
        for stated, outcome in (
            ([("small", "holds"), ("large", "refuted")], "trained_refuted"),
            ([("small", "refuted"), ("large", "holds")], "trained_holds"),
            ([("large", "holds"), ("large", "refuted")], "trained_in_part"),
            ([("large", "holds"), ("large", "undecided")], "trained_undecided"),
            ([("large", "holds"), ("control", "refuted"), ("wide_control", "refuted")], "trained_holds"),
            ([("control", "refuted")], "trained_refuted"),  # nothing printed
            ([("large", "not run")], "trained_undecided"),
            ([("large", "holds"), ("large", "undecided (texts)")], "trained_undecided"),
            ([("large", "holds"), ("large", "no difference that matters")], "trained_undecided"),
        ):
            found = trained_rows.judged(results_of(*(("a-row", e, v) for e, v in stated)))["a-row"]
            self.assertEqual(found.outcome, outcome, stated)
        order = [
            s.experiment
            for s in trained_rows.judged(results_of(*(("a-row", e, "holds") for e in ("small", "control", "large"))))[
                "a-row"
            ].statements
        ]
        self.assertEqual(order, ["large", "control", "small"])

    def test_reduced_models_are_never_counted_as_the_paper_s_size(self):
        found = trained_rows.judged(results_of(("a-row", "small", "holds"), ("a-row", "large", "refuted")))["a-row"]
        self.assertEqual(
            found.said,
            "1 statement tested on models of width = 128, layers = 2, the widest (the paper gives no size): 1 refuted",
        )

    def test_models_of_the_paper_s_size_decide_and_stand_first(self):
        row = "vla-copy-task"  # of width 128 and two layers
        self.assertEqual(papers.TRAINED_SIZES[row], dict(width=128, layers=2))
        stated = results_of((row, "huge", "holds"), (row, "large", "refuted"), (row, "small", "holds"))
        stated.trainings.append(Trained("huge", "linear", 1, settings=dict(width=512, layers=2)))
        stated.experiments["huge"] = Experiment("huge", "huge", "Table 1")
        found = trained_rows.judged(stated)[row]
        self.assertEqual(found.outcome, "trained_refuted")
        self.assertEqual([s.experiment for s in found.statements], ["large", "huge", "small"])
        self.assertEqual(found.said, "1 statement tested on models of width = 128, layers = 2, the paper's size: 1 refuted")
        deeper = results_of((row, "large", "refuted"))
        for run in deeper.trainings:
            run.settings["layers"] = 4  # as wide as the paper's, but not as deep
        self.assertEqual(
            trained_rows.judged(deeper)[row].said,
            "1 statement tested on models of width = 128, layers = 4 (the paper's size is width = 128, layers = 2): 1 refuted",
        )

    def test_every_kept_row_says_whether_its_models_have_the_paper_s_size(self):
        """Compared with the files by a reader that shares no code with the report."""
        at_size = {}
        for path in RESULTS:
            tables, settings = own.tables(path), {}
            for setting in tables["training_parameters"]:
                settings.setdefault(setting["run"], {})[setting["name"]] = setting["value"]
            for s in tables.get("trained_statements", []):
                paper = papers.TRAINED_SIZES.get(s["row"])
                mine = [settings[r["run"]] for r in tables["training_plan"] if r["experiment"] == s["experiment"]]
                has = bool(paper) and all(m[name] == value for m in mine for name, value in paper.items())
                printed = {e["experiment"]: e["printed"] for e in tables["experiments"]}[s["experiment"]]
                at_size[s["row"]] = at_size.get(s["row"], False) or (has and bool(printed))
        for row, found in trained_rows.judged(report.load(RESULTS)).items():
            self.assertEqual(", the paper's size: " in found.said, at_size[row], row)
        self.assertTrue(any(at_size.values()) and not all(at_size.values()))


class Pages(pages.ReportCase):
    def test_one_verdict_a_row_everywhere(self):
        kept = [path for path in RESULTS if "vla_capacity" in path or "trained_data" in path]
        index = self.written(BASELINE, *kept)
        results = report.load([BASELINE, *kept])
        rows = trained_rows.judged(results)
        claims = {c.id: c for c in results.claims}
        self.assertIn("vla-mqar-capacity-curve", rows)
        shown = {
            "trained_holds": "holds for trained models",
            "trained_in_part": "refuted in part by trained models",
            "trained_refuted": "refuted by trained models",
            "trained_undecided": "undecided by trained models",
        }
        outcomes = {row["id"]: row["data-outcome"] for row in self.page("ledger.html").rows}
        for row, found in rows.items():
            id = trained_rows.claim_of(row)
            page = self.page(f"claims/{id}.html")
            self.says(page, f"{shown[found.outcome]} {found.said}")
            self.says(self.page("training.html"), f"{shown[found.outcome]} {row} {found.said}")
            self.assertEqual(outcomes["claim-" + id], found.outcome)
            self.assertEqual(findings.outcome(claims[id]), found.outcome)
            self.assertFalse("not tested" in page.text or "Exact form" in page.text, row)
        self.says(index, f"{len(rows)} more are compared with trained models")
        capacity = self.page("claims/vla_mqar_capacity_curve.html")
        self.says(capacity, "Printed004 Table 9: softmax .081, linear .074, DeltaNet .011, VLA 1.000 (24 pairs")
        self.says(capacity, "Reproducerecollect train --suite suites/trained_vla_capacity.toml")
        titles = [s.title for s in rows["vla-mqar-capacity-curve"].statements]
        self.assertLess(
            titles.index("24 pairs without positions and convolution, by learning rate"),
            titles.index("6 pairs, new values in every text"),
        )
        self.assertLess(capacity.text.index("width = 128"), capacity.text.index("width = 32"))


if __name__ == "__main__":
    unittest.main()
