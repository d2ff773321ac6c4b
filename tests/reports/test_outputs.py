# SPDX-License-Identifier: Apache-2.0
"""The report's output: tables instead of pages; nothing if it is refused, killed or loses a worker."""
import contextlib
import csv
import io
import os
import select
import signal
import subprocess
import sys
import unittest
from unittest import mock

import h5py
from pages import REPORTS, ReportCase, run  # noqa: I001: finds the modules below
import synthetic

# Runs the report with the code of its folder; workers run the inserted code instead of drawing.
WATCHED = """
import os, signal, sys, time
here = sys.argv.pop(1)
sys.path[:0] = [os.path.dirname(here), os.path.join(here, "python")]
from reports import command
from reports.figures import draw
heard, said = int(sys.argv.pop(1)), int(sys.argv.pop(1))
draw_one = draw.draw_one
def work(job):
    {}
draw.draw_one = work
sys.exit(command.main())
"""


class Outputs(ReportCase):
    def test_other_formats(self):
        variants = synthetic.write_runs(self.runs, steps=12, families=synthetic.SMALL)
        ids = synthetic.write_claims(self.verdicts, variants[:2], count=9)
        self.assertEqual(run(self.runs, self.verdicts, "-o", self.out, "--format", "md", "--csv").returncode, 0)
        self.assertEqual(sorted(os.listdir(self.out)), ["bench.csv", "cells.csv", "claims.csv", "points.csv", "report.md"])
        with open(os.path.join(self.out, "report.md"), encoding="utf-8") as f:
            text = f.read()
        for id in ids:
            self.assertIn(f"| {id} |", text)
        with open(os.path.join(self.out, "cells.csv"), encoding="utf-8", newline="") as f:
            rows = list(csv.DictReader(f))
        self.assertEqual({r["task"] for r in rows}, set(synthetic.TASKS))
        self.assertTrue(all(float(r["mean"]) >= 0 for r in rows if r["status"] == "ok"))

    def test_csv_has_a_column_a_parameter_with_the_tuned_value(self):
        planned = {"recall": {"n": 16, "beta": 1.0}, "softmax": {"scale": float("nan"), "norm": "rms"}}
        cases = synthetic.seeded([0.5, 0.7], variant="softmax", params=planned, chosen={("softmax", "scale"): 8.0, ("recall", "beta"): 0.2})
        cases += synthetic.seeded([0.1, 0.3], variant="linear", params={"recall": {"n": 16, "beta": 1.0}}, setting="untuned")
        synthetic.write_cases(self.runs, [*cases, dict(variant="rls", status="failed", reason="why, \"so\"")])
        self.assertEqual(run(self.runs, "-o", self.out, "--csv").returncode, 0)
        with open(os.path.join(self.out, "cells.csv"), encoding="utf-8", newline="") as f:
            softmax, linear, rls = csv.DictReader(f)
        told = ("task.n", "task.beta", "layer.scale", "layer.norm", "setting", "chosen", "mean", "seeds")
        self.assertEqual([softmax[c] for c in told], ["16", "0.2", "8", "rms", "tuned", "scale beta", "0.6", "2"])
        self.assertEqual([linear[c] for c in told], ["16", "1", "", "", "untuned", "", "0.2", "2"])
        self.assertEqual((rls["status"], rls["reason"], rls["mean"]), ("failed", 'why, "so"', ""))
        self.assertFalse({"free", "parameters"} & set(linear))

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

    def test_a_failure_names_the_files(self):
        from reports import command as report

        said = io.StringIO()
        with mock.patch.object(report, "write", side_effect=KeyError("exact")), contextlib.redirect_stderr(said):
            with mock.patch.object(sys, "argv", ["report.py", "a.h5", "b.h5", "-o", "x"]):
                self.assertEqual(report.main(), 3)
        self.assertEqual(said.getvalue(), "recollect report: no page can be made of a.h5, b.h5: KeyError: 'exact'\n")

    def test_a_cache_that_cannot_be_written_is_no_error(self):
        """A slow cache is no error either: Matplotlib warns of both."""
        synthetic.write_claims(self.verdicts, [("additive", "linear")], count=6, kernels=[])
        done = run(self.verdicts, "-o", self.out, MPLCONFIGDIR="/dev/null/nowhere")
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def watched(self, work):
        """A report in progress: (process, the end of the pipe that workers read, the end that receives what they
        write)."""
        synthetic.write_runs(self.runs, steps=12, families=synthetic.SMALL)
        (theirs, ours), (hears, said) = os.pipe(), os.pipe()
        process = subprocess.Popen([sys.executable, "-c", WATCHED.format(work), REPORTS, str(theirs), str(said), self.runs, "-o", self.out],
                                   pass_fds=(theirs, said), stderr=subprocess.PIPE, text=True)  # fmt: skip
        os.close(theirs), os.close(said)
        self.addCleanup(os.close, hears)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.kill)
        return process, ours, hears

    def test_a_dead_worker_is_an_error_and_no_wait(self):
        process, token, _ = self.watched("os.kill(os.getpid(), signal.SIGKILL) if os.read(heard, 1) else draw_one(job)")
        os.write(token, b"!")  # the worker that reads it dies, the others see the end
        os.close(token)
        _, said = process.communicate()
        self.assertEqual((process.returncode, said.count("\n")), (3, 1), said)
        self.assertIn("a process that drew figures died", said)
        self.assertEqual(os.listdir(self.folder), ["r.h5"])

    def test_nothing_goes_on_after_the_parent(self):
        for by in signal.SIGTERM, signal.SIGHUP, signal.SIGKILL:
            process, token, hears = self.watched("os.write(said, b'.'), time.sleep(600)")
            os.close(token)
            self.assertEqual(os.read(hears, 1), b".")  # a worker is busy
            process.send_signal(by)
            process.wait(timeout=120)  # not until the workers have slept
            while select.select([hears], [], [], 300)[0] and os.read(hears, 4096):
                pass
            self.assertTrue(select.select([hears], [], [], 0)[0], f"{by.name}: workers live on")  # all writers are gone
            if by != signal.SIGKILL:
                self.assertEqual(os.listdir(self.folder), ["r.h5"])
        self.assertEqual(run(self.runs, "-o", self.out).returncode, 0)
        self.assertEqual(sorted(os.listdir(self.folder)), sorted(["r.h5", os.path.basename(self.out)]), "a killed report's folder stays")

    def test_a_report_under_way_is_not_taken_for_a_killed_one(self):
        process, token, hears = self.watched("os.write(said, b'.'), os.read(heard, 1), draw_one(job)")
        self.assertEqual(os.read(hears, 1), b".")
        second = os.path.join(self.folder, "second")
        self.assertEqual(run(self.runs, "-o", second).returncode, 0)
        os.close(token)
        self.assertEqual(process.wait(), 0, process.stderr.read())
        self.assertTrue(os.path.exists(os.path.join(self.out, "index.html")))

    def site(self, **environment):
        return run(self.runs, "-o", self.out, **environment)

    def contents(self):
        found = {}
        for at, _, names in os.walk(self.out):
            for name in names:
                with open(os.path.join(at, name), "rb") as f:
                    found[os.path.relpath(os.path.join(at, name), self.out)] = f.read()
        return found

    def test_a_site_replaces_a_site_in_one_step_and_keeps_what_is_not_its_own(self):
        synthetic.write_cases(self.runs, synthetic.seeded([0.5, 0.7], variant="softmax", params={"recall": {"n": 16}}))
        self.assertEqual(self.site().returncode, 0)
        first = set(self.contents())
        os.makedirs(os.path.join(self.out, "notes"))
        for name in ("CNAME", "files.txt", "notes/mine.html", "own.html", "figures/mine.svg"):
            with open(os.path.join(self.out, name), "w") as f:
                f.write("mine")
        os.symlink("own.html", os.path.join(self.out, "link"))
        synthetic.write_cases(self.runs, synthetic.seeded([0.5, 0.7], variant="linear", params={"recall": {"n": 16}}))
        self.assertEqual(self.site().returncode, 0)
        now = self.contents()
        for name in ("CNAME", "files.txt", "notes/mine.html", "own.html", "figures/mine.svg", "link"):
            self.assertEqual(now[name], b"mine")
        self.assertTrue(os.path.islink(os.path.join(self.out, "link")))
        self.assertNotIn("layers/softmax.html", now)
        self.assertIn("layers/linear.html", now)
        self.assertIn("layers/softmax.html", first)
        self.assertEqual(sorted(os.listdir(self.folder)), sorted(["r.h5", os.path.basename(self.out)]))

    def test_a_site_that_cannot_be_put_in_place_leaves_the_earlier_one(self):
        """In this test a user's file has the name of a page that only the second report has."""
        synthetic.write_cases(self.runs, synthetic.seeded([0.5, 0.7], variant="softmax", params={"recall": {"n": 16}}))
        self.assertEqual(self.site().returncode, 0)
        with open(os.path.join(self.out, "layers", "linear.html"), "w") as f:
            f.write("mine")
        before = self.contents()
        synthetic.write_cases(self.runs, synthetic.seeded([0.5, 0.7], variant="linear", params={"recall": {"n": 16}}))
        done = self.site()
        self.assertEqual(done.returncode, 3)
        self.assertIn("belongs to no report", done.stderr)
        self.assertEqual(self.contents(), before)
        self.assertEqual(sorted(os.listdir(self.folder)), sorted(["r.h5", os.path.basename(self.out)]))

    def test_without_an_exchange_in_one_step_two_renames_do(self):
        from reports import publish

        old, new = (os.path.join(self.folder, n) for n in ("old", "new"))
        os.makedirs(old), os.makedirs(new)
        for folder in old, new:
            with open(os.path.join(folder, "index.html"), "w") as f:
                f.write('name="generator" content="recollect report"' + folder)
        with mock.patch.object(publish, "exchange", lambda *_: False):
            publish.put_in_place(new, old)
        with open(os.path.join(old, "index.html")) as f:
            self.assertIn(new, f.read())

    def test_tables_replace_tables_whole_or_not_at_all(self):
        synthetic.write_cases(self.runs, synthetic.seeded([0.5, 0.7], variant="softmax", params={"recall": {"n": 16}}))
        self.assertEqual(run(self.runs, "-o", self.out, "--format", "md", "--csv").returncode, 0)
        before = self.contents()
        from reports import publish

        with mock.patch("os.fsync", side_effect=OSError(28, "No space left on device")), self.assertRaises(OSError):
            publish.files(self.out, {"report.md": "half"})
        self.assertEqual(self.contents(), before)

    def test_texts_stay_texts(self):
        """Texts are not interpreted by a spreadsheet, a terminal, or a page made from the Markdown."""
        reason = '=HYPERLINK("x") <b>\x1b[31m'
        synthetic.write_cases(self.runs, [dict(variant="rls", status="failed", reason=reason)])
        self.assertEqual(run(self.runs, "-o", self.out, "--format", "md", "--csv").returncode, 0)
        with open(os.path.join(self.out, "cells.csv"), encoding="utf-8", newline="") as f:
            (row,) = csv.DictReader(f)
        self.assertEqual(row["reason"], "'=HYPERLINK(\"x\") <b> [31m")
        from reports import tables

        self.assertEqual([tables.plain(v) for v in ("-1e-3", -1.5, "+inf", "-x", "@a", "\t=1")], ["-1e-3", -1.5, "+inf", "'-x", "'@a", "' =1"])
        self.assertEqual(tables.cell("<img src=x>|"), "&lt;img src=x&gt;\\|")


if __name__ == "__main__":
    unittest.main()
