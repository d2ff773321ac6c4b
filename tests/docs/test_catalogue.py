# SPDX-License-Identifier: Apache-2.0
"""docs/command-line.md, layers.md and ledger.md name everything in the program. test_render.py tests that they are
current; `python3 docs/render.py` updates them."""
import json
import math
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
from reports.state_counts import state_counts  # noqa: E402, after catalogue has set the path

PROGRAM = os.environ["RECOLLECT_PROGRAM"]
LAYER = dict(name="x", aliases=["y"], family="f", update="$S_t = |k|$, read last", source="000 Eq 1", needs_one_of=["alpha"],
             inputs=[dict(name="beta", required=True), dict(name="alpha", required=False), dict(name="w", required=False)],
             state=dict(rows=2, columns=3, numbers="2 x (Dk + 1)", fixed=["y = 2"], bytes={"64": 5, "128": 9}),
             forms=[dict(name="recurrent", exact=True, backward=False), dict(name="chunked", exact=True, backward=True),
                    dict(name="minibatch", exact=False, backward=False)])  # fmt: skip


def value(formula, **sizes):
    """A formula of sizes: a product is written without a sign, `2 Dk (Dv + 1)`, and a power with ^."""
    tokens = re.findall(r"[A-Za-z_]\w*|[\d.]+|\S", formula)
    product = "".join(left + "*" * (left != "log2" and bool(re.match(r"[\w.)]", left[-1])) and bool(re.match(r"[\w(]", right)))
                      for left, right in zip(tokens, [*tokens[1:], "+"]))  # fmt: skip
    return eval(product.replace("^", "**"), {"__builtins__": {}, "log2": math.log2}, sizes)


def parameters(layer, d):
    """The layer's default parameters; one that follows the shape is 4 Dk."""
    return {p["name"]: 4 * d if p["default"] == "4 Dk" else p["default"] for p in layer["parameters"]}


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

    def test_every_layer_is_in_the_table_of_states(self):
        page = (DOCS / "state-sizes.md").read_text()
        rows = re.findall(r"^\| \[(\w+)\]\(\S+\) \| `([^`]+)`[^|]* \| (\d*) \| (\d*) \|", page, re.M)
        layers = {layer["name"]: layer for layer in listed("variants")}
        self.assertEqual([name for name, *_ in rows], list(layers))
        for name, formula, *sizes in rows:
            layer = layers[name]
            self.assertEqual(sizes == ["", ""], layer["state"]["rows"] == 0, name)
            for d, size in zip((64, 128), sizes):
                if size:
                    self.assertEqual(4 * value(formula, Dk=d, Dv=d, **parameters(layer, d)), int(size), name)

    def test_counts_of_others_are_formulas_for_layers(self):
        layers = {layer["name"]: layer for layer in listed("variants")}
        for name, row in state_counts().items():
            count = value(row["numbers"], Dk=64, Dv=32, T=8, **parameters(layers[name], 64))
            mine = value(layers[name]["state"]["numbers"], Dk=64, Dv=32, T=8, **parameters(layers[name], 64))
            self.assertTrue(row["source"], name)
            if count != mine:  # a difference is explained
                self.assertTrue(row["difference"], name)

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

    def test_a_state_is_a_row_with_its_count_elsewhere(self):
        counts = {"x": dict(numbers="Dk", source="a paper", difference="without y")}
        with mock.patch.multiple(catalogue, listed=lambda kind: [LAYER], state_counts=lambda: counts):
            lines = catalogue.states()
        self.assertEqual(lines[-2], "| [x](../variants/x.cpp) | `2 x (Dk + 1)`, `y = 2` | 5 | 9 | `Dk`, without y | a paper |")
        self.assertEqual(value("2 x (Dk + 1)^2", x=3, Dk=1), 24)
        self.assertEqual(value("Dk (log2(T) + 0.5)", Dk=2, T=8), 7)

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
