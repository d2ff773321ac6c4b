# SPDX-License-Identifier: Apache-2.0
"""Kernels' conventions through the Python package: each with a kernel that follows it, and one that does not."""
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
    """The gated delta rule in float32 on arrays in this convention, under the names of any convention: o and the
    final state."""
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


# Arguments of rt.layer, their meaning for the kernel, and the result of a kernel that ignores one of them.
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


def softplus(x):
    return np.logaddexp(x, 0)


def silu(x):
    return x / (1 + np.exp(-x))


def mamba2(C, B, x, dt, A, D=None, z=None, dt_bias=None, initial_states=None, skip=True, gate=silu):
    """Mamba's state-space recurrence in float32, [B,T,H,D] and states [Dv,Dk], as mamba_ssm names its arguments."""
    steps = dt if dt_bias is None else softplus(dt + dt_bias)
    S = np.zeros((*x.shape[:1], *x.shape[2:], C.shape[-1]), np.float32) if initial_states is None else initial_states
    out = np.empty(x.shape, np.float32)
    for t in range(x.shape[1]):
        S = S * np.exp(steps[:, t] * A)[..., None, None]
        S = S + (steps[:, t, :, None] * x[:, t])[..., None] * B[:, t, :, None]
        out[:, t] = np.einsum("bhvk,bhk->bhv", S, C[:, t])
    if D is not None and skip:
        out = out + (D[:, None] if D.ndim == 1 else D) * x
    return {"out": out if z is None else out * gate(z), "final_states": S}


def kda(q, k, v, beta, a, A_log, dt_bias, state=None, lower=None, bias=True):
    """Kimi delta attention in float32, with raw gates of channels, [B,H,T,D] and states [Dv,Dk]."""
    z = a + (dt_bias[:, None] if bias else 0)
    speed = np.exp(A_log)[:, None, None]
    decay = np.exp(-speed * softplus(z) if lower is None else lower / (1 + np.exp(-speed * z))).astype(np.float32)
    S = np.zeros((*q.shape[:2], v.shape[-1], q.shape[-1]), np.float32) if state is None else np.array(state)
    o = np.empty(v.shape, np.float32)
    for t in range(q.shape[2]):
        S = S * decay[:, :, t, None, :]
        error = v[:, :, t] - np.einsum("bhvk,bhk->bhv", S, k[:, :, t])
        S = S + (beta[:, :, t, None] * error)[..., None] * k[:, :, t, None]
        o[:, :, t] = np.einsum("bhvk,bhk->bhv", S, q[:, :, t])
    return {"o": o, "state": S}


NAMES = ("T2-gates01-norms-beta02-S0", "T63-gaussian-S0", "T64-strong-norms-S0", "T63-gaussian-w-S0")


class GatesOfMambaAndKda(unittest.TestCase):
    def cases(self, layer):
        found = [case for case in rt.battery(layer) if case.name in NAMES]
        self.assertTrue(found)
        return found

    def test_mamba(self):
        for extra in (), ("D", "z"):
            layer = rt.layer("mamba2", convention="mamba", extra=extra)
            for case in self.cases(layer):
                with self.subTest(case=case.name, extra=extra):
                    x = case.inputs()
                    self.assertEqual("z" in x and "D" in x, bool(extra))
                    self.assertTrue(case.check(mamba2(**x)).right)
                    with self.assertRaises(rt.CheckFailed):
                        case.check(mamba2(**{**x, "A": 0.9 * x["A"]}))
                    if extra:
                        with self.assertRaisesRegex(rt.CheckFailed, "lack D v"):
                            case.check(mamba2(**x, skip=False))
                        with self.assertRaises(rt.CheckFailed):
                            case.check(mamba2(**x, gate=lambda z: 1 / (1 + np.exp(-z))))

    def test_mamba_with_a_bias(self):
        (case, *_) = self.cases(rt.layer("mamba2", convention="mamba"))
        x = case.inputs()
        x = {**x, "dt": x["dt"] - 1, "dt_bias": np.linspace(-1, 1, x["dt"].shape[2]).astype(np.float32)}
        self.assertTrue(recollect.check(case.layer, x, mamba2(**x)).right)
        forgot = mamba2(**{**x, "dt_bias": np.zeros_like(x["dt_bias"])})
        self.assertEqual(recollect.check(case.layer, x, forgot).verdict, "WRONG")

    def test_kda(self):
        for gate, lower in ("kda", None), ("kda-lb", -5):
            layer = rt.layer("kda", gate=gate)
            for case in self.cases(layer):
                with self.subTest(case=case.name, gate=gate):
                    x = case.inputs()
                    self.assertEqual(x["dt_bias"].shape, (case.sizes()["H"], case.sizes()["K"]))
                    self.assertTrue(case.check(kda(**x, lower=lower)).right)
                    with self.assertRaises(rt.CheckFailed):
                        case.check(kda(**x, lower=lower, bias=False))


def bf16(a):
    """Rounded to bfloat16, stored in float32."""
    bits = np.ascontiguousarray(a, np.float32).view(np.uint32).astype(np.uint64)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16 << 16).astype(np.uint32).view(np.float32)


def chunked_in_bf16(q, k, v, g, beta, initial_state=None, round_gates=False, C=64):
    """The gated delta rule in chunks, in fla's convention, as kernels on tensor cores compute it: operands of products
    in bfloat16, sums, gates and states in float32."""
    zeros = np.zeros((*q.shape[::2], q.shape[-1], v.shape[-1]), np.float32)
    S = zeros if initial_state is None else initial_state.copy()
    o = np.empty(v.shape, np.float32)
    g = np.maximum(bf16(g) if round_gates else g, np.float32(-1e4))
    for b, h, a in np.ndindex(q.shape[0], q.shape[2], -(-q.shape[1] // C)):
        steps = slice(a * C, min((a + 1) * C, q.shape[1]))
        Q, K, V, B = (array[b, steps, h] for array in (q, k, v, beta[..., None]))
        G = np.cumsum(g[b, steps, h], dtype=np.float32)
        decay = np.tril(np.exp(np.minimum(G[:, None] - G, 0)))
        lower = np.tril(bf16(K * B) @ K.T * decay, -1)
        inverse = bf16(np.tril(np.linalg.inv(np.eye(len(Q), dtype=np.float32) + lower)))
        state = bf16(S[b, h])
        new = bf16(inverse @ bf16(V * B)) - bf16(inverse @ bf16(K * B * np.exp(G)[:, None])) @ state
        scores = bf16(np.tril(Q @ K.T) * decay)
        o[b, steps, h] = bf16(Q.shape[-1] ** -0.5 * (Q @ state * np.exp(G)[:, None] + scores @ bf16(new)))
        S[b, h] = S[b, h] * np.exp(G[-1]) + K.T @ bf16(new * np.exp(G[-1] - G)[:, None])
    return {"o": o, "final_state": S}


class TypesOfArrays(unittest.TestCase):
    def test_a_kernel_in_bfloat16_with_gates_and_states_in_float32_is_right(self):
        layer = rt.layer("gated_delta_net", convention="fla")
        for case in rt.battery(layer, "bf16"):
            with self.subTest(case=case.name):
                self.assertTrue(case.check(chunked_in_bf16(**case.arrays)).right)

    def test_gates_that_it_rounds_are_wrong_unless_they_are_given_so(self):
        layer = rt.layer("gated_delta_net", convention="fla")
        case = next(one for one in rt.battery(layer, "bf16") if one.name == "T63-rates-repeated-beta02-S0")
        found = chunked_in_bf16(**case.arrays, round_gates=True)
        self.assertEqual(recollect.check(layer, case.arrays, found, dtype="bf16").verdict, "WRONG")
        self.assertTrue(recollect.check(layer, case.arrays, found, dtype="bf16", types={"g": "bf16"}).right)

    def test_a_preset_holds_gates_and_states_in_float32(self):
        layer = rt.layer("gated_delta_net", convention="fla")
        types = {name: layer.type_of(name, "bf16") for name in ("q", "g", "initial_state", "dht", "beta")}
        self.assertEqual(types, {"q": "bf16", "g": "f32", "initial_state": "f32", "dht": "f32", "beta": "bf16"})
        wider = rt.layer("gated_delta_net", convention="fla", types={"beta": "f32"})
        self.assertEqual(wider.type_of("beta", "bf16"), "f32")

    def test_types_are_those_of_the_tensors(self):
        x = next(case.arrays for case in rt.battery("gated_delta_net", "f16") if case.name == "T63-gaussian-S0")
        given = {n: array.astype(np.float32 if n in ("alpha", "state") else np.float16) for n, array in x.items()}
        results = recollect.definition("gated_delta_net", given)
        given["state"] = given["state"] * np.float32(1.0001)  # float32 holds it, float16 does not
        report = recollect.check("gated_delta_net", given, results, dtype="f16")
        self.assertNotIn("cannot represent", report.text)
        report = recollect.check("gated_delta_net", given, results, dtype="f16", types={"state": "f16"})
        self.assertIn("cannot represent: state (f16)", report.text)

    def test_a_case_passes_on_the_types_that_it_made(self):
        for case in rt.battery(rt.layer("gated_delta_net", convention="fla"), "f16"):
            if case.name == "T63-gaussian-S0":
                break
        x = case.inputs(types={"beta": "f32"})
        kinds = {n: str(x[n].dtype) for n in ("q", "beta", "g")}
        self.assertEqual(kinds, {"q": "float16", "beta": "float32", "g": "float32"})
        self.assertEqual(case._types["beta"], "f32")
        self.assertTrue(case.check(recollect.definition(case.layer, case.arrays)).right)


class OnePlaceForConventions(unittest.TestCase):
    def test_the_package_takes_presets_from_the_program(self):
        for name, layout, state in (("fla", "bthd", "kv"), ("flashinfer", "thd", "vk"), ("mamba", "bthd", "vk")):
            made = rt.layer("gated_delta_net", convention=name)
            self.assertEqual((made.layout, made.state), (layout, state))
        with self.assertRaisesRegex(recollect.RecollectError, "no convention is called fal; there are layer, fla"):
            rt.layer("gated_delta_net", convention="fal")
        source = (ROOT / "reports/python/recollect/layer.py").read_text()
        for stated in "initial_state", "dout", '"thd"}.get':
            self.assertNotIn(stated, source)


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
