# SPDX-License-Identifier: Apache-2.0
"""Types of arrays and batteries in users' conventions. tests/files/test_conventions.py has a correct and a wrong kernel
for each convention."""
import os
import pathlib
import sys
import unittest

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
os.environ["RECOLLECT"] = os.environ["RECOLLECT_PROGRAM"]
sys.path[:0] = [str(ROOT / "reports" / "python")]

import recollect  # noqa: E402
import recollect.testing as rt  # noqa: E402


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


class Batteries(unittest.TestCase):
    def test_cases_and_definitions_speak_the_convention(self):
        others = dict(layout="bthd", state="kv", gate="gdn", beta="sigmoid", scale="rsqrt", l2norm=1e-6)
        for flags in (*(dict(convention=name) for name in ("fla", "vllm", "flashinfer")), others):
            layer = rt.layer("gated_delta_net", **flags)
            for case in rt.battery(layer, varlen=True):
                if case.name in ("T63-gaussian-S0", "T150-texts-empty-padded-S0"):
                    with self.subTest(**flags, case=case.name):
                        found = recollect.definition(layer, case.arrays)
                        (state,) = (array for name, array in found.items() if "state" in name)
                        texts = len(case.arrays["cu_seqlens"]) - 1 if "cu_seqlens" in case.arrays else 0
                        sizes = case.sizes()
                        self.assertEqual(state.shape[:2], (texts or sizes["B"], sizes["H"]))
                        matrix = (sizes["K"], sizes["V"]) if layer.state == "kv" else (sizes["V"], sizes["K"])
                        self.assertEqual(state.shape[2:], matrix)
                        report = case.check(found)
                        self.assertTrue(report.right)
                        self.assertEqual([one["verdict"] for one in report.texts], texts * ["right"])
                        with self.assertRaises(rt.CheckFailed):
                            case.check({**found, "o": 1.01 * found["o"]})


if __name__ == "__main__":
    unittest.main()
