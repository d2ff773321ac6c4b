# SPDX-License-Identifier: Apache-2.0
"""Every convention of conventions.py with a correct and a wrong case: HDF5 and .npz files, .safetensors files and .pt files
on the command line and through Python, and arrays in process."""
import functools
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import h5py
import numpy as np
from conventions import NAMES, TABLE, bfloat16
from in_folder import InFolder

PROGRAM = os.environ["RECOLLECT_PROGRAM"]
os.environ["RECOLLECT"] = PROGRAM
os.environ.setdefault("OMP_NUM_THREADS", "1")  # hundreds of small commands
sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[2] / "reports" / "python")]

import recollect  # noqa: E402
import recollect.testing as rt  # noqa: E402
from recollect import arrays, safetensors  # noqa: E402

try:
    import torch
except ImportError:
    torch = None


def as_layer(row, wrong=None):
    flags = {**row.flags, **(wrong.flags if wrong else {})}
    return rt.layer(row.layer, **{name: value for name, value in flags.items() if value is not None})


@functools.lru_cache(maxsize=None)
def sampled(row):
    """The kernel's inputs, of `recollect sample`."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "in.npz")
        words = ["sample", row.layer, "--shape", row.shape, "--dtype", row.dtype, "--grad", "-o", path]
        done = subprocess.run([PROGRAM, *words, *as_layer(row).sample_flags(), *row.sample.split()],
                              capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        with np.load(path) as file:
            return row.change(dict(file.items()))


@functools.lru_cache(maxsize=None)
def results_of(row):
    return row.results(sampled(row))


def wrong_cases(row):
    """Inputs, results, and what is wrong."""
    for wrong in row.wrong:
        x = {name: array for name, array in sampled(row).items() if name not in wrong.lacks}
        yield x, row.results(x, **wrong.kernel) if wrong.kernel else results_of(row), wrong


def narrow(row, name, array):
    """In bfloat16 where the kernel has it so."""
    own = row.dtype == "bf16" and np.array_equal(bfloat16(array), array)
    return arrays.Bfloat16((array.view(np.uint32) >> 16).astype(np.uint16)) if own and array.ndim > 1 else array


class Conventions(InFolder):
    def for_each(self, judge):
        for row in TABLE:
            with self.subTest(row.name):
                judge(row)

    def test_the_program_computes_what_numpy_does(self):
        def judge(row):
            if "types" in row.flags:
                return  # this kernel rounds an input
            found = recollect.definition(as_layer(row), sampled(row))
            for name, array in results_of(row).items():
                kept = np.nan_to_num(array)  # after the last text the program writes zeros
                np.testing.assert_allclose(found[name], kept, rtol=1e-5, atol=1e-5 * np.abs(kept).max(), err_msg=name)

        self.for_each(judge)

    def command(self, row, inputs, results, wrong=None):
        """What the command says: (exit status, verdict, what is not checked, diagnoses or the error)."""
        layer = as_layer(row, wrong)
        words = ["check", row.layer, "--dtype", row.dtype, "--grad", *layer.flags, *layer.type_flags()]
        words += ["-i", inputs, "-c", results, "--json", self.path("c.json")]
        done = subprocess.run([PROGRAM, *words], capture_output=True, text=True)
        if done.returncode > 1:
            self.assertEqual((done.stdout, done.stderr.count("\n")), ("", 1), done.stderr)
            return done.returncode, "", [], done.stderr
        with open(self.path("c.json")) as file:
            found = json.load(file)
        return done.returncode, found["verdict"], found["not_checked"], "; ".join(found["diagnosis"])

    def judge(self, write):
        """Right and wrong cases of every row through files that `write` makes of inputs and results."""
        def judge(row):
            status, verdict, not_checked, said = self.command(row, *write(row, sampled(row), results_of(row)))
            self.assertEqual((status, verdict), (0, "right"), said)
            self.assertEqual([n for n in not_checked if row.returned(n)], [])
            for x, results, wrong in wrong_cases(row):
                status, verdict, _, said = self.command(row, *write(row, x, results), wrong)
                self.assertIn((status, verdict), [(1, "WRONG"), (3, "")], wrong)
                self.assertIn(wrong.said, said)

        self.for_each(judge)

    def test_hdf5_and_npz_files(self):
        def write(row, x, results):
            with h5py.File(self.path("in.h5"), "w") as file:
                for name, array in x.items():
                    file[name] = array
            np.savez(self.path("out.npz"), **results)
            return self.path("in.h5"), self.path("out.npz")

        self.judge(write)

    def test_safetensors_files(self):
        def write(row, x, results):
            safetensors.write(self.path("in.safetensors"), {n: narrow(row, n, a) for n, a in x.items()})
            safetensors.write(self.path("out.safetensors"), results)
            return self.path("in.safetensors"), self.path("out.safetensors")

        self.judge(write)

    def in_process(self, row, x, results, wrong=None):
        """(verdict, the report or the error) of assert_close."""
        *_, out, initial, final, _, _, _ = NAMES[row.names]
        gradients = {name[1:]: array for name, array in results.items() if name not in (out, final)}
        gradients = {"initial_state" if name == "h0" else name: array for name, array in gradients.items()}
        try:
            report = rt.assert_close(as_layer(row, wrong), x, o=results.get(out), state=results.get(final),
                                     grads=gradients, dtype=row.dtype)
            return report.verdict, report
        except rt.CheckFailed as failure:
            return "WRONG", "; ".join(failure.report.diagnosis)
        except recollect.RecollectError as failure:
            return "refused", str(failure)

    def judge_in_process(self, convert):
        def judge(row):
            verdict, report = self.in_process(row, convert(row, sampled(row)), convert(row, results_of(row)))
            self.assertEqual(verdict, "right", report)
            self.assertEqual([n for n in report.not_checked if row.returned(n)], [])
            for x, results, wrong in wrong_cases(row):
                verdict, said = self.in_process(row, convert(row, x), convert(row, results), wrong)
                self.assertIn(verdict, ("WRONG", "refused"), wrong)
                self.assertIn(wrong.said, said)

        self.for_each(judge)

    def test_numpy_arrays_in_process(self):
        """bfloat16 as its bits in uint16."""
        self.judge_in_process(lambda row, x: {n: getattr(narrow(row, n, a), "bits", a) for n, a in x.items()})

    @unittest.skipUnless(torch, "no PyTorch here: .pt files and tensors were not tried")
    def test_pt_files(self):
        def convert(row, x):
            kinds = {n: "bf16" if isinstance(narrow(row, n, a), arrays.Bfloat16) else "f32" for n, a in x.items()}
            torch.save({n: arrays.from_host(a, torch, kinds[n]) for n, a in x.items()}, self.path("x.pt"))
            return recollect.tensors(self.path("x.pt"))

        self.judge_in_process(convert)


if __name__ == "__main__":
    unittest.main()
