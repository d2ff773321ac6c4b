# SPDX-License-Identifier: Apache-2.0
"""Conditions on a program's results file wherever the program was ended."""
import os
import re
import subprocess

import h5py
from in_folder import InFolder

PROGRAM = os.environ["RECOLLECT_PROGRAM"]
RUN = ("run", "--variants", "linear,delta_net,softmax", "--tasks", "recall,copy,mqar,overwrite", "--seeds", "3", "-v")
TABLES = ("plan", "parameters", "records", "metrics", "series/mse_by_step")


def rows(path, table):
    """The rows of a table, without times."""
    with h5py.File(path) as f:
        columns = [name for name in f[table].dtype.names if name != "seconds"]
        return [tuple(x.tobytes() if hasattr(x, "tobytes") else x for x in row) for row in f[table][:][columns]]


def count(rows):
    """Number of cases, claims or models in these rows."""
    return len({row[0] for row in rows})


def reported(said):
    """Number of cases that the program's output reports as done."""
    return len(re.findall(r" s\)$", said, re.M))


class Survival(InFolder):
    def run_program(self, *arguments, **options):
        options = {"capture_output": True, "text": True, **options}
        return subprocess.run([PROGRAM, *arguments], **options)

    def uninterrupted(self, words=RUN, tables=TABLES, name="whole.h5"):
        """The tables of an uninterrupted run."""
        whole = self.path(name)
        self.assertEqual(self.run_program(*words, "-o", whole).returncode, 0)
        return {table: rows(whole, table) for table in tables}

    def assert_one_line(self, said, words=""):
        """Requires that, besides the lines of finished cases, exactly one line is printed, the one with the error."""
        told = [line for line in said.splitlines() if line.startswith("recollect: ")]
        self.assertEqual(len(told), 1, said)
        self.assertIn(words, told[0])

    def assert_kept(self, out, cases, table="records", report=False):
        """Requires that the partial output can be opened and that the table has at least this number of cases; if asked, also
        renders it as a page."""
        partial = out if os.path.exists(out) else out + ".partial"
        if os.path.exists(partial):
            self.assertIn(self.run_program("info", partial).returncode, (0, 1))
            self.assertGreaterEqual(count(rows(partial, table)), cases)
            if report:
                page = self.path("page")
                done = self.run_program("report", partial, "--quiet", "-o", page)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertTrue(os.path.exists(os.path.join(page, "index.html")))
        else:
            self.assertEqual(cases, 0, "cases were reported, and no file is left")

    def assert_resumes(self, out, whole, words=(*RUN, "--resume")):
        resumed = self.run_program(*words, "-o", out)
        self.assertEqual(resumed.returncode, 0, resumed.stderr)
        self.assertEqual({table: rows(out, table) for table in whole}, whole)
        folder, name = os.path.split(out)
        self.assertEqual([other for other in os.listdir(folder) if other.startswith(name)], [name])
