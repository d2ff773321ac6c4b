# SPDX-License-Identifier: Apache-2.0
"""The Python package with PyTorch: types, gradients of autograd, mistakes that only they show."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
os.environ["RECOLLECT"] = os.environ["RECOLLECT_PROGRAM"]
sys.path[:0] = [str(ROOT / "reports" / "python")]

import recollect  # noqa: E402
from recollect import arrays  # noqa: E402
import recollect.testing as rt  # noqa: E402

try:
    import torch
except ImportError:
    torch = None


def gated(q, k, v, beta, alpha, state=None, detached=False, late=False):
    """The gated delta rule in float32, [B,T,H,D], gates in logarithms. `detached`: the write gives keys no gradient;
    `late`: the gate of the step before."""
    kind = q.dtype
    q, k, v, beta, alpha = (a.float() for a in (q, k, v, beta, alpha))
    S = torch.zeros(q.shape[0], q.shape[2], v.shape[-1], q.shape[-1]) if state is None else state.float()
    o = []
    for t in range(q.shape[1]):
        S = alpha[:, max(t - late, 0), :, None, None].exp() * S
        error = v[:, t] - torch.einsum("bhvk,bhk->bhv", S, k[:, t])
        write = k[:, t].detach() if detached else k[:, t]
        S = S + torch.einsum("bh,bhv,bhk->bhvk", beta[:, t], error, write)
        o.append(torch.einsum("bhvk,bhk->bhv", S, q[:, t]))
    return torch.stack(o, 1).to(kind), S


@unittest.skipUnless(torch, "no PyTorch here: the package was tried with NumPy alone")
class WithTorch(unittest.TestCase):
    def setUp(self):
        self.layer = rt.layer("gated_delta_net", layout="bthd", gate="log")

    def one(self, dtype, name="T65-strong"):
        return next(c for c in rt.battery(self.layer, dtype, grad=True) if c.name == name)

    def test_bfloat16_goes_there_and_back(self):
        given = torch.tensor([1, -3.140625, float("inf")], dtype=torch.bfloat16)
        found = arrays.to_host(given)
        self.assertEqual(found.bits.tolist(), [0x3F80, 0xC049, 0x7F80])
        self.assertEqual(arrays.to_float64(given).tolist(), [1, -3.140625, np.inf])
        back = arrays.from_host(found.as_float32(), torch, "bf16")
        self.assertTrue(back.dtype == torch.bfloat16 and torch.equal(back, given))

    def test_a_pt_file_becomes_safetensors_that_the_program_reads(self):
        x = {"q": torch.tensor([[[[1.0, -3.140625]]]], dtype=torch.bfloat16), "k": torch.ones(1, 1, 1, 2).half()}
        with tempfile.TemporaryDirectory() as folder:
            torch.save({**x, "v": torch.full((1, 1, 1, 1), 2.0)}, f"{folder}/x.pt")
            words = [sys.executable, "-m", "recollect", f"{folder}/x.pt", f"{folder}/x.safetensors"]
            environment = {**os.environ, "PYTHONPATH": str(ROOT / "reports" / "python")}
            subprocess.run(words, env=environment, check=True)
            with open(f"{folder}/x.safetensors", "rb") as file:
                self.assertIn(b'"BF16"', file.read(500))
            flags = ["-i", f"{folder}/x.safetensors", "-o", f"{folder}/y.safetensors"]
            subprocess.run([os.environ["RECOLLECT"], "forward", "linear", *flags], check=True)
            self.assertEqual(recollect.tensors(f"{folder}/y.safetensors")["o"].ravel().tolist(), [2 * (1 - 3.140625)])
            torch.save([1], f"{folder}/x.pt")
            ran = subprocess.run(words, env=environment, capture_output=True, text=True)
            self.assertIn("holds no dictionary of tensors", ran.stderr)

    def test_inputs_have_the_case_s_types(self):
        x = self.one("bf16").inputs(torch)
        self.assertEqual((x["q"].dtype, x["alpha"].dtype), (torch.bfloat16, torch.float32))
        self.assertTrue(all(a.requires_grad for a in x.values()))

    def test_right_forward_and_backward_in_every_type(self):
        for dtype in ("f32", "tf32", "f16", "bf16"):
            case = self.one(dtype)
            report = case.check(gated(**case.inputs(torch)))
            self.assertEqual(report.not_checked, ())

    def test_float32_is_no_float64(self):
        case = self.one("f64")
        with self.assertRaises(rt.CheckFailed):
            case.check(gated(**case.inputs(torch)))

    def test_a_gradient_alone_that_is_wrong_is_refused(self):
        case = self.one("bf16")
        with self.assertRaises(rt.CheckFailed) as caught:
            case.check(gated(**case.inputs(torch), detached=True))
        parts = caught.exception.report.parts
        self.assertEqual((parts["o"]["verdict"], parts["dk"]["verdict"]), ("right", "WRONG"))

    def test_a_mistake_is_named(self):
        case = self.one("bf16")
        with self.assertRaisesRegex(rt.CheckFailed, "gate_one_step_off|one step"):
            case.check(gated(**case.inputs(torch), late=True))

    def test_all_properties(self):
        found = rt.properties(self.layer, gated, xp=torch, dtype="bf16", shape=(2, 2, 17, 4, 6))
        self.assertEqual([str(one) for one in found if one.outcome != "holds"], [])


if __name__ == "__main__":
    unittest.main()
