# SPDX-License-Identifier: Apache-2.0
"""Conventions of kernels through the Python package: each with a kernel that follows it, and one that does not."""
import os
import pathlib
import subprocess
import sys
import unittest

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
os.environ["RECOLLECT"] = os.environ["RECOLLECT_PROGRAM"]
sys.path[:0] = [str(ROOT / "reports" / "python")]

import recollect  # noqa: E402
import recollect.testing as rt  # noqa: E402

HELP = subprocess.run([os.environ["RECOLLECT"], "check", "--help"], capture_output=True, text=True).stdout


def gated_delta(x, layout="bhtd", state="vk", gate="factor", beta="plain", scale="none", l2norm=None):
    """The gated delta rule in float32 on arrays in that convention, under the names of any: o and the final state."""
    def first(*names):
        return next((np.asarray(x[name], np.float32) for name in names if name in x), None)

    def heads_first(a):
        a = a[None] if layout == "thd" else a
        return a if layout == "bhtd" else a.swapaxes(1, 2)

    q, k, v, write, decay = (heads_first(first(*n)) for n in ("q", "k", "v", ("beta", "b"), ("g", "alpha", "a")))
    if l2norm is not None:
        q, k = (a / np.sqrt((a * a).sum(-1, keepdims=True) + np.float32(l2norm)) for a in (q, k))
    q = q * np.float32(q.shape[-1] ** -0.5 if scale == "rsqrt" else 1)
    write = {"plain": write, "sigmoid": 1 / (1 + np.exp(-write)), "double": 2 * write}[beta]
    if gate == "gdn":
        raw = decay + x["dt_bias"][:, None]
        decay = -np.exp(x["A_log"])[:, None] * np.logaddexp(raw, 0)
    factor = {"factor": decay, "log2": np.exp2(decay)}.get(gate, np.exp(decay))
    given = first("initial_state", "state")
    bounds = x.get("cu_seqlens")
    texts = [(b, slice(None)) for b in range(len(q))]
    if bounds is not None:
        texts = [(0, slice(begin, end)) for begin, end in zip(bounds, bounds[1:])]
    o, states = np.zeros(v.shape, np.float32), []
    for n, (b, steps) in enumerate(texts):
        S = np.zeros((v.shape[1], v.shape[-1], q.shape[-1]), np.float32)
        if given is not None:
            S = given[n] if state == "vk" else given[n].swapaxes(1, 2)
        for t in range(*steps.indices(q.shape[2])):
            S = factor[b, :, t, None, None] * S
            error = write[b, :, t, None] * (v[b, :, t] - np.einsum("hvk,hk->hv", S, k[b, :, t]))
            S = S + error[:, :, None] * k[b, :, t, None, :]
            o[b, :, t] = np.einsum("hvk,hk->hv", S, q[b, :, t])
        states.append(S if state == "vk" else S.swapaxes(1, 2))
    o = o if layout == "bhtd" else o.swapaxes(1, 2)
    return {"o": o[0] if layout == "thd" else o, "state": np.stack(states)}


# Arguments of rt.layer, what they mean to the kernel, and what a kernel does that forgot one of them.
CONVENTIONS = [
    (dict(layout="bthd"), dict(layout="bthd"), None),
    (dict(state="kv"), dict(state="kv"), None),
    (dict(scale="rsqrt"), dict(scale="rsqrt"), dict(scale="none")),
    (dict(l2norm=1e-6), dict(l2norm=1e-6), dict(l2norm=None)),
    (dict(gate="log"), dict(gate="log"), dict(gate="log2")),
    (dict(gate="log2"), dict(gate="log2"), dict(gate="log")),
    (dict(gate="gdn"), dict(gate="gdn"), dict(gate="log")),
    (dict(beta="sigmoid"), dict(beta="sigmoid"), dict(beta="plain")),
    (dict(beta="double"), dict(beta="double"), dict(beta="plain")),
    (dict(convention="fla"), dict(layout="bthd", state="kv", gate="log", scale="rsqrt"), dict(scale="none")),
    (dict(convention="vllm"), dict(layout="bthd", gate="log", scale="rsqrt", l2norm=1e-6), dict(l2norm=None)),
    (dict(convention="flashinfer"), dict(layout="thd", scale="rsqrt"), dict(scale="none")),
]


@unittest.skipUnless("--convention" in HELP, "this program has no --convention: users' conventions were not tried")
class Conventions(unittest.TestCase):
    def cases(self, flags):
        packed = flags.get("convention") in ("fla", "flashinfer")
        layer = rt.layer("gated_delta_net", **flags)
        if layer.layout == "thd":  # packed texts alone
            return [c for c in rt.battery(layer, varlen=True) if "texts" in c.name]
        wanted = ("T63-gaussian-S0", *(["T150-texts-empty-padded-S0"] if packed else []))
        return [case for case in rt.battery(layer, varlen=packed) if case.name in wanted]

    def test_a_kernel_that_follows_one_is_right(self):
        for flags, knobs, _ in CONVENTIONS:
            for case in self.cases(flags):
                with self.subTest(**flags, case=case.name):
                    self.assertTrue(case.check(gated_delta(case.inputs(), **knobs)).right)

    def test_a_kernel_that_forgot_one_is_wrong(self):
        for flags, knobs, forgot in CONVENTIONS:
            for case in self.cases(flags) if forgot else ():
                with self.subTest(**flags, case=case.name), self.assertRaises(rt.CheckFailed):
                    case.check(gated_delta(case.inputs(), **{**knobs, **forgot}))

    def test_the_forgotten_scale_is_named(self):
        (case,) = self.cases(dict(scale="rsqrt"))
        with self.assertRaisesRegex(rt.CheckFailed, "--scale"):
            case.check(gated_delta(case.inputs()))

    def test_the_definition_speaks_the_convention(self):
        case = self.cases(dict(convention="fla"))[0]
        found = recollect.definition(case.layer, case.arrays)
        state = next(array for name, array in found.items() if "state" in name)
        sizes = case.sizes()
        self.assertEqual(state.shape, (sizes["B"], sizes["H"], sizes["K"], sizes["V"]))
        report = recollect.check(case.layer, case.arrays, found, dtype="f64")
        self.assertTrue(report.right, report)


if __name__ == "__main__":
    unittest.main()
