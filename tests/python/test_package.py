# SPDX-License-Identifier: Apache-2.0
"""The Python package: arrays, checks, definitions, properties, and a pytest file with right and wrong kernels."""
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time
import unittest

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PACKAGE = str(ROOT / "reports" / "python")
os.environ["RECOLLECT"] = os.environ["RECOLLECT_PROGRAM"]
sys.path[:0] = [PACKAGE, str(HERE)]

import kernels  # noqa: E402

import recollect  # noqa: E402
import recollect.testing as rt  # noqa: E402
from recollect import arrays, safetensors  # noqa: E402
from recollect.cases import saved  # noqa: E402
from recollect.worker import worker  # noqa: E402


def example(shape=(1, 2, 5, 3, 4), seed=0):
    B, H, T, K, V = shape
    rng = np.random.default_rng(seed)
    return {"q": rng.normal(size=(B, H, T, K)), "k": rng.normal(size=(B, H, T, K)), "v": rng.normal(size=(B, H, T, V))}


class Arrays(unittest.TestCase):
    def test_every_type_comes_back_from_a_file(self):
        kinds = (np.float16, np.float32, np.float64, np.int32, np.int64)
        given = {f"a{i}": np.arange(6).reshape(2, 3).astype(kind) for i, kind in enumerate(kinds)}
        given["bf16"] = arrays.Bfloat16(np.array([0x3F80, 0xC049], np.uint16))
        with tempfile.NamedTemporaryFile(suffix=".safetensors") as file:
            safetensors.write(file.name, given, {"seed": "7"})
            found, about = safetensors.read(file.name)
            bits = pathlib.Path(file.name).read_bytes().replace(b'"BF16"', b'"U16" ')
            pathlib.Path(file.name).write_bytes(bits)
            self.assertEqual(safetensors.read(file.name)[0]["bf16"].tolist(), [1, -3.140625])
        self.assertEqual(about, {"seed": "7"})
        for name, array in given.items():
            if name == "bf16":
                self.assertEqual(found[name].tolist(), [1, -3.140625])
            else:
                self.assertEqual((found[name].dtype, found[name].tolist()), (array.dtype, array.tolist()))

    def test_what_is_no_number_is_refused(self):
        with self.assertRaisesRegex(TypeError, "needs numbers"):
            arrays.to_host(np.array(["a"]))

    def test_dlpack_alone_is_enough(self):
        class Exported:
            def __init__(self, array):
                self.array = array

            def __dlpack__(self, **options):
                return self.array.__dlpack__(**options)

            def __dlpack_device__(self):
                return self.array.__dlpack_device__()

        self.assertEqual(arrays.to_host(Exported(np.arange(3.0))).tolist(), [0, 1, 2])


class Checks(unittest.TestCase):
    def test_the_definition_worked_by_hand(self):
        """Two steps of S_t = S_{t-1} + v k^T, o = S q: o_1 = 2 (k.q) = 6, S_2 = 2 k_1 + 5 k_2."""
        x = {"q": [[[[3.0, 0], [1, 1]]]], "k": [[[[1.0, 0], [0, 1]]]], "v": [[[[2.0], [5]]]]}
        found = recollect.definition("linear", {**x, "do": [[[[1.0], [1]]]]})
        self.assertEqual(found["o"].ravel().tolist(), [6, 7])
        self.assertEqual(found["state"].ravel().tolist(), [2, 5])
        self.assertEqual(found["dv"].ravel().tolist(), [4, 1])  # k_1.(q_1 + q_2), k_2.q_2
        self.assertEqual(found["dq"].ravel().tolist(), [2, 0, 2, 5])

    def test_right_wrong_and_what_is_missing(self):
        x = example()
        found = recollect.definition("linear", x)
        self.assertTrue(recollect.check("linear", x, found, dtype="f64").right)
        report = recollect.check("linear", x, {"o": 2 * found["o"]}, dtype="f64")
        self.assertEqual((report.verdict, report.not_checked), ("WRONG", ("state",)))
        self.assertEqual(report.parts["o"]["verdict"], "WRONG")

    def test_assert_close(self):
        x = example()
        do = np.ones_like(x["v"])
        y = recollect.definition("linear", {**x, "do": do})
        rt.assert_close("linear", x, o=y["o"], state=y["state"], grads={"q": y["dq"]}, do=do, dtype="f64")
        with self.assertRaisesRegex(rt.CheckFailed, "WRONG"):
            rt.assert_close("linear", x, o=y["o"], grads={"q": -y["dq"]}, do=do, dtype="f64")
        with self.assertRaisesRegex(ValueError, "grads need do"):
            rt.assert_close("linear", x, grads={"q": y["dq"]})

    def test_refusals_are_one_line_with_the_remedy(self):
        x = example()
        for call, said in (
            (lambda: recollect.check("linnear", x, {}), "did you mean 'linear'"),
            (lambda: recollect.check("linear", {**x, "gate": x["q"]}, {"o": x["v"]}), "gate is not an input of linear"),
            (lambda: recollect.check("linear", x, {"o": x["v"][:, :1]}), "has shape"),
            (lambda: recollect.check(rt.layer("linear", layout="hbtd"), x, {"o": x["v"]}), "layout"),
        ):
            with self.assertRaisesRegex(recollect.RecollectError, said) as caught:
                call()
            self.assertNotIn("\n", str(caught.exception))
            self.assertNotIn(".safetensors", str(caught.exception))  # the caller gave no file

    def test_verdicts_are_recorded(self):
        with tempfile.TemporaryDirectory() as folder:
            os.environ["RECOLLECT_RECORD"] = f"{folder}/record.csv"
            self.addCleanup(os.environ.pop, "RECOLLECT_RECORD")
            case = next(c for c in rt.battery("linear") if c.name == "T63-gaussian-S0")
            case.check(kernels.linear(**case.inputs()))
            with self.assertRaises(rt.CheckFailed):
                case.check(-kernels.linear(**case.inputs())["o"])
            lines = pathlib.Path(f"{folder}/record.csv").read_text().splitlines()
        self.assertEqual(lines[0], "layer,form,type,case,part,row,head,verdict")
        self.assertEqual([(line.split(",")[4], line.split(",")[-1]) for line in lines[1:]],
                         [("o", "right"), ("state", "right"), ("o", "WRONG")])  # fmt: skip

    def test_inputs_that_a_kernel_does_not_take_are_left_out(self):
        cases = rt.battery(rt.layer("gated_delta_net2", without=["w", "beta"]))
        self.assertGreater(len(cases), 10)
        self.assertTrue(all({"lambda"} == {"beta", "lambda", "w"} & set(case.arrays) for case in cases))
        with tempfile.TemporaryDirectory() as folder:
            cases[0].save(f"{folder}/case.safetensors")
            self.assertEqual(saved(f"{folder}/case.safetensors").layer.without, ("w", "beta"))

    def test_nothing_is_left_behind_in_the_folder(self):
        x = example()
        recollect.check("linear", x, {"o": x["v"]})
        self.assertEqual(list(worker().folder.iterdir()), [])

    def test_a_worker_that_died_is_said_and_replaced(self):
        recollect.definition("linear", example())
        worker()._process.kill()
        worker()._process.wait()
        self.assertEqual(recollect.definition("linear", example())["o"].shape, (1, 2, 5, 4))

    def test_no_program_is_said(self):
        for named, said in ((os.devnull, "no program that can be run"), ("", "name it in RECOLLECT")):
            words = [sys.executable, "-c", "import recollect; recollect.definition('linear', {})"]
            ran = subprocess.run(words, env={"PYTHONPATH": PACKAGE, "RECOLLECT": named, "PATH": ""},
                                 capture_output=True, text=True)  # fmt: skip
            self.assertIn(said, ran.stderr.splitlines()[-1])

    def test_overhead(self):
        """Median time of a checked case with gradients, with a cached reference: arrays, files, pipe and judging."""
        seconds = []
        for case in [c for c in rt.battery("gated_delta_net", "bf16", grad=True) if 60 <= c.sizes()["T"] <= 130]:
            right = recollect.definition(case.layer, case.arrays)
            case.check(right)
            tries = []
            for _ in range(3):
                start = time.perf_counter()
                case.inputs()
                case.check(right)
                tries.append(time.perf_counter() - start)
            seconds.append(min(tries))  # the machine may be busy with other work
        median = 1e3 * statistics.median(seconds)
        print(f"overhead a case: {median:.0f} ms (median of {len(seconds)}, gated_delta_net, bf16, with gradients)")
        self.assertLess(median, 50)


class Properties(unittest.TestCase):
    def test_a_right_kernel_has_them_all(self):
        found = rt.properties("linear", kernels.linear, shape=(2, 3, 17, 4, 6))
        self.assertEqual({one.name: one.outcome for one in found}, dict.fromkeys(kernels.BREAKS, "holds"))

    def test_each_is_broken_by_a_kernel(self):
        for name, kernel in kernels.BREAKS.items():
            with self.subTest(name), self.assertRaisesRegex(AssertionError, f"{name}: broken"):
                rt.properties("linear", kernel, shape=(2, 3, 17, 4, 6))

    def test_what_does_not_apply_is_said(self):
        def softmax(q, k, v):
            scores = np.einsum("bhtk,bhsk->bhts", q, k)
            scores[..., ~np.tri(q.shape[2], dtype=bool)] = -np.inf
            weights = np.exp(scores - scores.max(-1, keepdims=True))
            return np.einsum("bhts,bhsv->bhtv", weights / weights.sum(-1, keepdims=True), v)

        found = {one.name: one for one in rt.properties("softmax", softmax, shape=(1, 2, 9, 4, 6))}
        self.assertEqual(found["split"].outcome, "not applicable")
        self.assertEqual(found["batch"].outcome, "not applicable")
        self.assertEqual((found["causal"].outcome, found["heads"].outcome), ("holds", "holds"))

    def test_an_unknown_one_is_refused(self):
        with self.assertRaisesRegex(ValueError, "no property is called straight"):
            rt.properties("linear", kernels.linear, skip=["straight"])


def can(module):
    return subprocess.run([sys.executable, "-c", f"import {module}"], capture_output=True).returncode == 0


@unittest.skipUnless(can("pytest"), "no pytest here: recollect.testing.cases was not tried")
class InPytest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.environment = {**os.environ, "PYTHONPATH": f"{PACKAGE}:{HERE}", "RECOLLECT_FAILURES": cls.folder.name}
        words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(HERE / "pytest_file.py")]
        cls.ran = subprocess.run(words, env=cls.environment, cwd=cls.folder.name, capture_output=True, text=True)
        cls.outcomes = dict.fromkeys(re.findall(r"FAILED \S+::(\S+)", cls.ran.stdout))

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_the_example_in_numpy_passes(self):
        words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "examples/test_kernels_numpy.py"]
        ran = subprocess.run(words, env=self.environment, cwd=ROOT, capture_output=True, text=True)
        self.assertRegex(ran.stdout, r"\d\d passed in")

    def test_right_kernels_pass_and_wrong_ones_fail(self):
        self.assertEqual(self.ran.returncode, 1, self.ran.stdout + self.ran.stderr)
        self.assertEqual([name for name in self.outcomes if name.startswith("test_right")], [], self.ran.stdout)
        wrong = [name for name in self.outcomes if name.startswith("test_wrong")]
        self.assertTrue(wrong, self.ran.stdout)
        self.assertTrue(all("-S0-f32]" in name for name in wrong), wrong)
        self.assertRegex(self.ran.stdout, r"\d+ failed, \d+ passed")

    def test_the_mistake_is_named_below_the_line_of_the_test(self):
        self.assertRegex(self.ran.stdout, r"\n>       case\.check\(linear.*\nE ")
        self.assertRegex(self.ran.stdout, r"\nE +repeat: python3 test_wrong-\S*\.py\n")  # from where pytest ran
        self.assertIn("diagnosis: the initial state is ignored", self.ran.stdout)

    def test_the_smallest_inputs_are_written_with_a_script_that_repeats_them(self):
        scripts = sorted(pathlib.Path(self.folder.name).glob("test_wrong-*.py"))
        self.assertTrue(scripts)
        for script in scripts:
            self.assertLessEqual(len(script.read_text().splitlines()), 12)
            case = rt.saved(script.with_suffix(".safetensors"))
            self.assertEqual((case.sizes()["B"], case.sizes()["H"], case.sizes()["T"]), (1, 1, 1), script)
        ran = subprocess.run([sys.executable, str(scripts[0])], env=self.environment, capture_output=True, text=True)
        self.assertEqual(ran.returncode, 1, ran.stderr)
        self.assertIn("CheckFailed: linear", ran.stderr)

    def test_shapes_that_a_kernel_refuses_are_no_smaller_failures(self):
        scripts = sorted(pathlib.Path(self.folder.name).glob("test_small*.py"))
        self.assertTrue(scripts)
        for script in scripts:
            sizes = rt.saved(script.with_suffix(".safetensors")).sizes()
            self.assertTrue(sizes["T"] >= 64 and sizes["H"] == 1 and sizes["V"] == 1, sizes)


class Sources(unittest.TestCase):
    @unittest.skipUnless(can("mypy"), "no mypy here: types of the Python package were not checked")
    def test_types(self):
        words = [sys.executable, "-m", "mypy", "reports"]
        ran = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
        self.assertEqual(ran.returncode, 0, ran.stdout)

    @unittest.skipUnless(can("flake8"), "no flake8 here: the style of the Python package was not checked")
    def test_style(self):
        ran = subprocess.run([sys.executable, "-m", "flake8", "reports", "tests/python"],
                             cwd=ROOT, capture_output=True, text=True)  # fmt: skip
        self.assertEqual(ran.returncode, 0, ran.stdout)


if __name__ == "__main__":
    unittest.main()
