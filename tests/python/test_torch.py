# SPDX-License-Identifier: Apache-2.0
"""The Python package with PyTorch: types, autograd's gradients, and mistakes that only show there."""
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
    """The gated delta rule in float32, [B,T,H,D], with gates as logarithms. `detached`: the write gives keys no
    gradient; `late`: uses the previous step's gate."""
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


def mamba2(C, B, x, dt, A, D, z, initial_states=None, cut=()):
    """Mamba's recurrence in float32, [B,T,H,D], as mamba_ssm names it. `cut`: arguments that get no gradient."""
    given = {"C": C, "B": B, "x": x, "dt": dt, "A": A, "D": D, "z": z}
    C, B, x, dt, A, D, z = ((a.detach() if n in cut else a).float() for n, a in given.items())
    S = torch.zeros(*x.shape[:1], *x.shape[2:], C.shape[-1]) if initial_states is None else initial_states.float()
    out = []
    for t in range(x.shape[1]):
        S = (dt[:, t] * A).exp()[..., None, None] * S + torch.einsum("bh,bhv,bhk->bhvk", dt[:, t], x[:, t], B[:, t])
        out.append(torch.einsum("bhvk,bhk->bhv", S, C[:, t]))
    y = torch.stack(out, 1) + D[:, None] * x
    return {"out": (y * torch.nn.functional.silu(z)).to(given["x"].dtype), "final_states": S}


def kda(q, k, v, beta, a, A_log, dt_bias, state=None, cut=()):
    """Kimi delta attention in float32 with raw gates, [B,H,T,D]."""
    kind = q.dtype
    q, k, v, beta, a = (x.float() for x in (q, k, v, beta, a))
    A_log, dt_bias = ((x.detach() if n in cut else x) for n, x in (("A_log", A_log), ("dt_bias", dt_bias)))
    decay = (-A_log.exp()[:, None, None] * torch.nn.functional.softplus(a + dt_bias[:, None])).exp()
    S = torch.zeros(*q.shape[:2], v.shape[-1], q.shape[-1]) if state is None else state.float()
    o = []
    for t in range(q.shape[2]):
        S = decay[:, :, t, None, :] * S
        error = v[:, :, t] - torch.einsum("bhvk,bhk->bhv", S, k[:, :, t])
        S = S + torch.einsum("bh,bhv,bhk->bhvk", beta[:, :, t], error, k[:, :, t])
        o.append(torch.einsum("bhvk,bhk->bhv", S, q[:, :, t]))
    return torch.stack(o, 2).to(kind), S


@unittest.skipUnless(torch, "no PyTorch here: the package was tried with NumPy alone")
class RawGates(unittest.TestCase):
    """Gradients through parameters of gates, skip terms and output gates, by autograd."""

    def judged(self, layer, kernel, parts):
        for dtype in "f32", "bf16":
            case = next(c for c in rt.battery(layer, dtype, grad=True) if c.name == "T63-gaussian-S0")
            self.assertTrue(case.check(kernel(**case.inputs(torch))).right)
            for part in parts:
                with self.subTest(dtype=dtype, part=part), self.assertRaises(rt.CheckFailed) as caught:
                    case.check(kernel(**case.inputs(torch), cut=(part,)))
                found = caught.exception.report.parts
                wrong = {n for n, one in found.items() if one["checked"] and one["verdict"] == "WRONG"}
                self.assertEqual(wrong, {f"d{part}"})

    def test_mamba(self):
        self.judged(rt.layer("mamba2", convention="mamba", extra=("D", "z")), mamba2, ("A", "D", "z"))

    def test_kda(self):
        self.judged(rt.layer("kda", gate="kda"), kda, ("A_log", "dt_bias"))


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
