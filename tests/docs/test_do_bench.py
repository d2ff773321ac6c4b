# SPDX-License-Identifier: Apache-2.0
"""The cases that examples/do_bench.py draws, and its comparison; its kernels need a GPU."""
import json
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples"))
import do_bench  # noqa: E402


def row(source, variant="linear", T="4096", status="ok", **others):
    return {**dict(source=source, variant=variant, B="4", H="16", T=T, Dk="64", Dv="64", math="exact", without="", status=status,
                   storage="f32", median_seconds="1e-3"), "pass": "forward", **others}


class Drawn(unittest.TestCase):
    def rows(self):
        shapes = [str(T) for T in range(10, 20)]
        return [row(source, T=T) for T in shapes for source in ("recollect", "fla")]

    def test_a_seed_draws_three_cases_and_the_same_again(self):
        first, again, other = (do_bench.drawn(self.rows(), seed) for seed in (1, 1, 2))
        self.assertEqual(len(first), 3)
        self.assertEqual(first, again)
        self.assertNotEqual(first, other)
        for ours, theirs in first:
            self.assertEqual((ours["source"], theirs["source"], ours["T"]), ("recollect", "fla", theirs["T"]))

    def test_only_pairs_that_were_timed_and_can_be_called_are_drawn(self):
        rows = [row("recollect"), row("fla", status="skipped"), row("recollect", "vla"), row("torch", "vla"),
                row("fla", T="77"), row("recollect", "softmax"), row("torch-flash", "softmax"), row("recollect", T="1"), row("fla", T="1")]
        self.assertEqual([(a["variant"], b["source"]) for a, b in do_bench.pairs(rows)], [("softmax", "torch-flash")])

    def test_a_peer_is_paired_with_our_row_of_its_own_storage(self):
        rows = [row(source, storage=storage, median_seconds=seconds) for storage, seconds in (("f32", "3e-3"), ("bf16", "2e-3"))
                for source in ("recollect", "fla")]
        rows += [row("recollect", math="bf16", median_seconds="4e-3"), row("fla", math="bf16", storage="bf16")]
        self.assertEqual([ours["median_seconds"] for ours, _ in do_bench.pairs(rows)], ["3e-3", "2e-3", "4e-3"])

    def test_our_side_is_timed_with_the_storage_of_its_row(self):
        result = json.dumps({"benchmarks": [{"run_type": "aggregate", "real_time": 2e6}]})
        with tempfile.TemporaryDirectory() as folder:
            program = os.path.join(folder, "recollect")
            with open(program, "w") as file:
                file.write(f"#!/bin/sh\necho \"$@\" >{folder}/asked\nfor last; do :; done\necho '{result}' >$last\n")
            os.chmod(program, 0o755)
            self.assertEqual(do_bench.our_seconds(program, row("recollect", storage="bf16", form="chunked")), 2e-3)
            with open(folder + "/asked") as file:
                self.assertIn("--dtype bf16", file.read())

    def test_five_per_cent_are_allowed(self):
        self.assertTrue(do_bench.within(2.09, 2.0) and do_bench.within(1.91, 2.0))
        self.assertFalse(do_bench.within(2.11, 2.0) or do_bench.within(1.89, 2.0))


if __name__ == "__main__":
    unittest.main()
