# SPDX-License-Identifier: Apache-2.0
"""docs/command-line.md, layers.md and ledger.md name everything in the program. test_render.py tests that they are
current; `python3 docs/render.py` updates them."""
import json
import os
import pathlib
import re
import subprocess
import sys
import unittest
from unittest import mock

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"
sys.path.insert(0, str(DOCS))
import catalogue  # noqa: E402

PROGRAM = os.environ["RECOLLECT_PROGRAM"]
LAYER = dict(name="x", aliases=["y"], family="f", update="$S_t = |k|$, read last", source="000 Eq 1", needs_one_of=["alpha"],
             inputs=[dict(name="beta", required=True), dict(name="alpha", required=False), dict(name="w", required=False)],
             state=dict(rows=2, columns=3),
             forms=[dict(name="recurrent", exact=True, backward=False), dict(name="chunked", exact=True, backward=True),
                    dict(name="minibatch", exact=False, backward=False)])  # fmt: skip


def listed(kind):
    done = subprocess.run([PROGRAM, "list", kind, "--json"], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


class Pages(unittest.TestCase):
    def test_every_command_has_a_section(self):
        page = (DOCS / "command-line.md").read_text()
        helped = subprocess.run([PROGRAM, "--help"], check=True, capture_output=True, text=True).stdout
        names = re.findall(r"^  ([a-z]+) ", helped, re.M)
        self.assertGreater(len(names), 10)
        self.assertEqual(re.findall(r"^## (\w+)$", page, re.M), names)

    def test_every_layer_and_task_links_to_its_source(self):
        page = (DOCS / "layers.md").read_text()
        for kind in "variants", "tasks":
            linked = re.findall(rf"^\| \[(\w+)\]\((\.\./{kind}/\w+\.cpp)\)", page, re.M)
            self.assertEqual(sorted(name for name, _ in linked), sorted(entry["name"] for entry in listed(kind)))
            for _, path in linked:
                self.assertTrue((DOCS / path).exists(), path)

    def test_every_row_of_the_ledger_links_to_a_claim(self):
        rows = re.findall(r"^\| ([\w.-]+) \| .* \| \[([\w.]+)\]\((\S+)\) \|$", (DOCS / "ledger.md").read_text(), re.M)
        self.assertEqual([row for row, _, _ in rows], [row for row, _ in catalogue.rows_of_ledger()])
        self.assertLessEqual({claim for _, claim, _ in rows}, {claim["id"] for claim in listed("claims")})
        for _, _, path in rows:
            self.assertTrue((DOCS / path).exists(), path)


class Cells(unittest.TestCase):
    def test_a_layer_is_a_row_of_its_family(self):
        with mock.patch.object(catalogue, "listed", lambda kind: [LAYER]):
            lines = catalogue.layers()
        self.assertIn("## f", lines)
        self.assertEqual(lines[-2], r"| [x](../variants/x.cpp), y | `S_t = \|k\|`, read last | beta, alpha*, w? | 2 x 3 "
                                    "| chunked, backward; minibatch (approximate) | 000 Eq 1 |")  # fmt: skip

    def test_formulas_are_code(self):
        self.assertEqual(catalogue.plain("for $|S| < 1$ and $d$"), r"for `\|S\| < 1` and `d`")
        self.assertEqual(catalogue.plain("o_t = v_t"), "`o_t = v_t`")  # a text without marks
        self.assertEqual(catalogue.plain("a list of tokens"), "a list of tokens")

    def test_a_program_that_is_not_there_is_named(self):
        with mock.patch.dict(os.environ, RECOLLECT_PROGRAM="/nowhere/recollect"), self.assertRaises(SystemExit) as stopped:
            catalogue.said("--help")
        self.assertEqual(str(stopped.exception), "no program at /nowhere/recollect: build it, or set RECOLLECT_PROGRAM")


if __name__ == "__main__":
    unittest.main()
