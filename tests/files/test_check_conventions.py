# SPDX-License-Identifier: Apache-2.0
"""Kernels in their users' conventions, through files and the command line: one correct and one wrong kernel each."""
import json
import os
import subprocess
import unittest

import h5py
import numpy as np
from in_folder import InFolder

PROGRAM = os.environ["RECOLLECT_PROGRAM"]


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softplus(x):
    return np.logaddexp(0, x)


def head(q, k, v, beta, alpha, S):
    """The gated delta rule of one head, S [Dv,Dk]."""
    S, o = S.copy(), np.empty_like(v)
    for t in range(len(q)):
        S *= alpha[t]
        S += beta[t] * np.outer(v[t] - S @ k[t], k[t])
        o[t] = S @ q[t]
    return o, S


def gated_delta(q, k, v, beta, alpha, state, texts=None, head_of=lambda h, n: h // n, start_of=lambda n, last: n):
    """[B,H,T,D], decay factors; q, k, v may have fewer heads than the largest number of them. With texts, a list of
    (begin, end), B is 1 and state is [N,H,Dv,Dk]."""
    H = max(a.shape[1] for a in (q, k, v))
    shared = lambda a: a[:, [head_of(h, H // a.shape[1]) if a.shape[1] < H else h for h in range(H)]]
    q, k, v, beta, alpha = map(shared, (q, k, v, beta, alpha))
    o, final = np.zeros(v.shape), np.empty(state.shape)
    runs = texts or [(0, v.shape[2])]
    for n in range(state.shape[0]):
        b, (begin, end) = (0, runs[n]) if texts else (n, runs[0])
        s = slice(begin, end)
        for h in range(H):
            start = state[n, h] if start_of(n, n - 1) == n else final[n - 1, h] if n else state[n, h]
            o[b, h, s], final[n, h] = head(q[b, h, s], k[b, h, s], v[b, h, s], beta[b, h, s], alpha[b, h, s], start)
    return {"o": o, "state": final}


def l2norm(x, eps=1e-6):
    return x / np.sqrt((x * x).sum(-1, keepdims=True) + eps)


class Conventions(InFolder):
    def run_program(self, *arguments, status=0):
        done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def sample(self, *flags, shape="2,4,40,8,6", layer="gated_delta_net", name="in.npz"):
        self.run_program("sample", layer, "--shape", shape, "-o", self.path(name), *flags)
        with np.load(self.path(name)) as f:
            return {key: f[key] for key in f}

    def check(self, arrays, *flags, status=0, layer="gated_delta_net"):
        np.savez(self.path("out.npz"), **arrays)
        self.run_program("check", layer, "-i", self.path("in.npz"), "-c", self.path("out.npz"), "--json",
                         self.path("c.json"), *flags, status=status)
        with open(self.path("c.json")) as f:
            return json.load(f)

    def right(self, arrays, *flags, **options):
        found = self.check(arrays, *flags, **options)
        self.assertEqual((found["verdict"], found["not_checked"]), ("right", []))

    def wrong(self, said, arrays, *flags, **options):
        found = self.check(arrays, *flags, status=1, **options)
        self.assertEqual(found["verdict"], "WRONG")
        self.assertIn(said, "; ".join(found["diagnosis"]), found)
        return found

    def refused(self, message, *arguments, status=3):
        said = self.run_program(*arguments, status=status)
        self.assertIn(message, said)
        self.assertEqual(said.count("\n"), 1, said)

    # Names, layout, logarithms, scale and order of states

    def test_fla(self):
        flags = ["--convention", "fla"]
        x = self.sample(*flags)
        self.assertEqual({n: a.shape for n, a in x.items()},
                         {"q": (2, 40, 4, 8), "k": (2, 40, 4, 8), "v": (2, 40, 4, 6), "beta": (2, 40, 4), "g": (2, 40, 4),
                          "initial_state": (2, 4, 8, 6)})
        q, k, v, beta, g = (x[n].swapaxes(1, 2) for n in ("q", "k", "v", "beta", "g"))
        def kernel(scale=8**-0.5, kv=True, alpha=np.exp(g)):
            S0 = x["initial_state"].swapaxes(2, 3)
            found = gated_delta(q * scale, k, v, beta, alpha, S0)
            return {"o": found["o"].swapaxes(1, 2), "final_state": found["state"].swapaxes(2, 3) if kv else found["state"]}
        self.right(kernel(), *flags)
        found = kernel()
        self.assertEqual(self.check(found, *flags)["texts"], [])
        self.right({"o": found["o"], "ht": found["final_state"]}, *flags)
        self.wrong("right with --scale 1", kernel(scale=1), *flags)
        self.wrong("right with --gate log2", kernel(alpha=np.exp2(g)), *flags)
        np.savez(self.path("out.npz"), **kernel(kv=False))
        self.refused("dataset final_state has shape [2,4,6,8], needs [2,4,8,6]", "check", "gated_delta_net", "-i",
                     self.path("in.npz"), "-c", self.path("out.npz"), *flags)

    def test_parts_have_the_users_names(self):
        flags = ["--convention", "fla", "--grad"]
        self.sample(*flags)
        right = self.forward("--gradient", *flags[:2])
        self.assertEqual(set(right), {"o", "final_state", "dq", "dk", "dv", "dbeta", "dg", "dh0"})
        found = self.check(right, *flags)
        self.assertEqual({n: p.get("definition") for n, p in found["parts"].items()},
                         {"o": None, "final_state": "state", "dq": None, "dk": None, "dv": None, "dbeta": None, "dg": "dalpha",
                          "dh0": "dstate"})
        found = self.wrong("", {**right, "dg": -right["dg"]}, *flags)
        self.assertTrue(found["where"].startswith("dg (dalpha) is wrong"), found["where"])
        np.savez(self.path("out.npz"), o=right["o"])
        said = self.run_program("check", "gated_delta_net", "-i", self.path("in.npz"), "-c", self.path("out.npz"), *flags)
        self.assertIn("not checked: final_state (state), dq, dk, dv, dbeta, dg (dalpha), dh0 (dstate)\n", said)
        found = self.check(right, *flags[:2])  # without --grad
        self.assertEqual(found["not_checked"], ["dq", "dk", "dv", "dbeta", "dg", "dh0"])

    def test_vllm(self):
        flags = ["--convention", "vllm"]
        x = self.sample(*flags, "--texts", "7,0,30", shape="1,4,40,8,6")
        self.assertEqual((x["initial_state"].shape, list(x["cu_seqlens"])), ((3, 4, 6, 8), [0, 7, 7, 37]))
        q, k, v, beta, g = (x[n].swapaxes(1, 2) for n in ("q", "k", "v", "beta", "g"))
        found = gated_delta(l2norm(q) / 8**0.5, l2norm(k), v, beta, np.exp(g), x["initial_state"], [(0, 7), (7, 7), (7, 37)])
        arrays = {"o": found["o"].swapaxes(1, 2), "final_state": found["state"]}
        arrays["o"][:, 37:] = np.nan  # steps outside every text
        self.right(arrays, *flags)
        arrays["o"][:, 36] = np.nan
        found = self.wrong("", arrays, *flags)
        self.assertIn("text 2", found["where"])
        self.assertEqual(found["texts"], [{"from": 0, "to": 7, "verdict": "right"}, {"from": 7, "to": 7, "verdict": "right"},
                                          {"from": 7, "to": 37, "verdict": "WRONG"}])
        self.assertEqual(self.check({"final_state": arrays["final_state"]}, *flags)["texts"][2]["verdict"], "right")

    def test_flashinfer(self):
        flags = ["--convention", "flashinfer"]
        x = self.sample(*flags, shape="1,2,40,8,6")
        self.assertEqual((x["q"].shape, x["g"].shape), ((40, 2, 8), (40, 2)))
        q, k, v, beta, g = (x[n].swapaxes(0, 1)[None] for n in ("q", "k", "v", "beta", "g"))
        found = gated_delta(q / 8**0.5, k, v, beta, g, x["initial_state"])
        self.right({"o": found["o"][0].swapaxes(0, 1), "final_state": found["state"]}, *flags)
        found = gated_delta(q, k, v, beta, g, x["initial_state"])
        self.wrong("right with --scale 1", {"o": found["o"][0].swapaxes(0, 1), "final_state": found["state"]}, *flags)

    def test_mamba(self):
        flags = ["--convention", "mamba"]
        x = self.sample(*flags, "--qk-heads", "2", shape="2,4,40,8,6", layer="mamba2")
        self.assertEqual({n: a.shape for n, a in x.items()},
                         {"C": (2, 40, 2, 8), "B": (2, 40, 2, 8), "x": (2, 40, 4, 6), "dt": (2, 40, 4), "A": (4,),
                          "initial_states": (2, 4, 6, 8)})
        def kernel(groups):
            S, out = x["initial_states"].astype(float).copy(), np.empty(x["x"].shape)
            for t in range(40):
                B, C, dt = x["B"][:, t, groups], x["C"][:, t, groups], x["dt"][:, t]
                S = S * np.exp(dt * x["A"])[..., None, None] + np.einsum("bh,bhp,bhn->bhpn", dt, x["x"][:, t], B)
                out[:, t] = np.einsum("bhpn,bhn->bhp", S, C)
            return {"out": out, "final_states": S}
        self.right(kernel([0, 0, 1, 1]), *flags, layer="mamba2")
        self.wrong("h % n", kernel([0, 1, 0, 1]), *flags, layer="mamba2")

    def mamba(self, x, D=True, z=True, dy=0):
        """mamba2 with a skip term and an output gate; gradients with respect to D, z and x are computed by hand."""
        S, y = x["initial_states"].astype(float).copy(), np.empty(x["x"].shape)
        for t in range(y.shape[1]):
            dt = x["dt"][:, t]
            S = S * np.exp(dt * x["A"])[..., None, None] + np.einsum("bh,bhp,bhn->bhpn", dt, x["x"][:, t], x["B"][:, t])
            y[:, t] = np.einsum("bhpn,bhn->bhp", S, x["C"][:, t])
        skip = (x["D"][:, None] if x["D"].ndim == 1 else x["D"]) if D else 0
        return {"out": (y + skip * x["x"]) * (x["z"] * sigmoid(x["z"]) if z else 1), "final_states": S}

    def test_skip_terms_and_output_gates_of_mamba(self):
        flags = ["--convention", "mamba"]
        for dtype in "f32", "bf16":
            x = self.sample(*flags, "--with", "D,z", "--dtype", dtype, layer="mamba2")
            self.assertEqual((x["D"].shape, x["z"].shape), ((4,), (2, 40, 4, 6)))
            also = [*flags, "--dtype", dtype]
            self.right(self.mamba(x), *also, layer="mamba2")
            self.wrong("right with outputs that lack D v (skip_term_missing)", self.mamba(x, D=False), *also, layer="mamba2")
            self.wrong("(output_gate_missing)", self.mamba(x, z=False), *also, layer="mamba2")
            found = self.mamba(x)
            found["out"][1, 7, 2] *= 1.1
            self.assertIn("step 7", self.wrong("", found, *also, layer="mamba2")["where"])
        x = {**x, "D": np.linspace(0.5, 2, 24).reshape(4, 6).astype(np.float32)}  # one number per channel
        np.savez(self.path("in.npz"), **x)
        self.right(self.mamba(x), *flags, layer="mamba2")
        self.wrong("", self.mamba({**x, "D": x["D"][::-1]}), *flags, layer="mamba2")
        np.savez(self.path("in.npz"), **{**x, "D": np.ones(3)})
        self.refused("dataset D has 3 heads, and the others have 4", "forward", "mamba2", "-i", self.path("in.npz"), "-o",
                     self.path("out.npz"), *flags)
        self.refused("--with D is for kernels of Mamba", "sample", "mamba2", "--shape", "1,1,4,4,4", "--with", "D", "-o",
                     self.path("x.npz"), status=2)

    def test_gradients_through_skip_terms_and_output_gates(self):
        flags = ["--convention", "mamba"]
        for texts in [], ["--texts", "13,0,20"]:
            x = self.sample(*flags, "--with", "D,z", "--grad", "--dtype", "f64", *texts, shape="1,4,40,8,6", layer="mamba2")
            found = self.forward("--gradient", *flags, layer="mamba2")
            self.assertLessEqual({"dD", "dz", "dx", "ddt", "dA"}, set(found))
            self.right(found, "--grad", "--dtype", "f64", *flags, layer="mamba2")

            def weighed(**other):
                np.savez(self.path("in.npz"), **{**x, **other})
                y = self.forward(*flags, layer="mamba2")
                kept = 33 if texts else 40
                return (y["out"] * x["dout"])[:, :kept].sum() + (y["final_states"] * x["dfinal_states"]).sum()
            rng = np.random.default_rng(1)
            for name in "D", "z", "x", "dt":  # compared with differences of the program's own outputs
                way = rng.standard_normal(x[name].shape)
                slope = (weighed(**{name: x[name] + 1e-6 * way}) - weighed(**{name: x[name] - 1e-6 * way})) / 2e-6
                self.assertAlmostEqual(slope, (found["d" + name] * way).sum(), delta=1e-6 * (1 + abs(slope)), msg=name)
            np.savez(self.path("in.npz"), **x)
            for name in "dD", "dz", "dx":
                wrong = self.wrong("", {**found, name: found[name] * 1.01}, "--grad", *flags, layer="mamba2")
                parts = {p.split("[")[0] for p, one in wrong["parts"].items() if one["verdict"] == "WRONG"}
                self.assertEqual(parts, {name})

    def test_a_switch_changes_a_preset(self):
        flags = ["--convention", "fla", "--layout", "bhtd", "--state", "vk", "--gate", "factor", "--scale", "1"]
        x = self.sample(*flags)
        found = gated_delta(x["q"], x["k"], x["v"], x["beta"], x["g"], x["initial_state"])
        self.right({"o": found["o"], "ht": found["state"]}, *flags)
        self.assertIn("--convention fla --layout bhtd --state vk --gate factor --scale 1",
                      self.check({"o": found["o"]}, *flags)["command"])

    def test_a_forgotten_layout_or_order_of_states_is_named(self):
        x = self.sample("--no-state", shape="1,40,4,8,6")  # that is [B,T,H,D] of 4 heads
        q, k, v, beta, alpha = (x[n].swapaxes(1, 2) for n in ("q", "k", "v", "beta", "alpha"))
        o = gated_delta(q, k, v, beta, alpha, np.zeros((1, 4, 6, 8)))["o"].swapaxes(1, 2)
        self.wrong("right with --layout bthd (layout_differs)", {"o": o})
        self.check({"o": o}, "--layout", "bthd")
        x = self.sample(shape="1,2,40,8,8", name="square.npz")
        os.replace(self.path("square.npz"), self.path("in.npz"))
        found = gated_delta(*(x[n] for n in ("q", "k", "v", "beta", "alpha")), x["state"].swapaxes(2, 3))
        self.wrong("right with --state kv", {"o": found["o"], "state": found["state"].swapaxes(2, 3)})
        self.sample("--state", "kv")
        self.refused("dataset state has shape [2,4,8,6], needs [2,4,6,8] as the state of gated_delta_net; the arrays fit "
                     "with --state kv", "check", "gated_delta_net", "-i", self.path("in.npz"), "-c", self.path("out.npz"))

    def test_log_gates_without_the_switch_are_named(self):
        self.sample("--gate", "log")
        self.refused("needs decay factors in [0,1]; the arrays fit with --gate log", "forward", "gated_delta_net", "-i",
                     self.path("in.npz"), "-o", self.path("out.npz"))

    def test_states_of_several_matrices_are_transposed_one_by_one(self):
        x = self.sample("--state", "kv", shape="1,2,20,8,6", layer="linear_elu")  # S [Dv,Dk], z [1,Dk]
        S = x["state"].copy()
        self.assertEqual(S.shape, (1, 2, 8, 7))  # S^T [Dk,Dv] beside z^T [Dk,1]
        feature = lambda a: np.where(a > 0, a + 1, np.exp(np.minimum(a, 0)))
        q, k, o = feature(x["q"]), feature(x["k"]), np.empty(x["v"].shape)
        for t in range(20):
            S += k[:, :, t, :, None] * np.concatenate([x["v"][:, :, t], np.ones((1, 2, 1))], 2)[:, :, None]
            o[:, :, t] = np.einsum("bhk,bhkv->bhv", q[:, :, t], S[..., :6]) / np.einsum("bhk,bhk->bh", q[:, :, t], S[..., 6])[..., None]
        self.right({"o": o, "state": S}, "--state", "kv", layer="linear_elu")
        self.wrong("", {"o": o, "state": np.concatenate([S[..., 6:], S[..., :6]], 3)}, "--state", "kv", layer="linear_elu")
        self.sample("--state", "kv", "--grad", shape="1,2,20,8,6", layer="rls")  # S [Dv,Dk], P [Dk,Dk], symmetric
        right = self.forward("--gradient", "--state", "kv", layer="rls")
        self.assertEqual(right["dstate"].shape, (1, 2, 8, 14))
        P = right["dstate"][..., 6:].copy()
        right["dstate"][..., 6:] = np.triu(P, 1) + np.triu(P.swapaxes(2, 3))  # in one triangle
        self.right(right, "--grad", "--state", "kv", layer="rls")
        right["dstate"][..., 6:] = np.triu(P)  # half of it is lost
        self.wrong("", right, "--grad", "--state", "kv", layer="rls")

    def test_types_of_single_arrays(self):
        flags = ["--dtype", "bf16", "--convention", "fla"]
        def bf16(a):
            return (np.ascontiguousarray(a, np.float32).view(np.uint32) >> 16 << 16).view(np.float32)
        x = self.sample(*flags)
        exact = {n: bool((bf16(a) == a).all()) for n, a in x.items()}
        self.assertEqual(exact, {"q": True, "k": True, "v": True, "beta": True, "g": False, "initial_state": False})
        found = self.check(self.forward(*flags[2:]), *flags)
        self.assertEqual(found["types"], {"q": "bf16", "k": "bf16", "v": "bf16", "beta": "bf16", "g": "f32",
                                          "initial_state": "f32"})
        self.assertEqual((found["verdict"], found["inexact_inputs"]), ("right", []))
        found = self.check(self.forward(*flags[2:]), *flags, "--dtype-of", "g=bf16,beta=f32")
        self.assertEqual((found["inexact_inputs"], found["types"]["beta"]), (["g"], "f32"))
        self.assertIn("--dtype-of g=bf16,beta=f32", found["command"])
        said = self.run_program("check", "gated_delta_net", "-i", self.path("in.npz"), "-c", self.path("f.npz"), *flags,
                                "--dtype-of", "initial_state=bf16")
        self.assertIn("cannot represent: initial_state (bf16);", said)
        # Gates that a kernel rounds to bf16 although they are float32
        np.savez(self.path("in.npz"), **{**x, "g": bf16(x["g"] * 1.004)})
        rounded = self.forward(*flags[2:])
        np.savez(self.path("in.npz"), **x)
        self.assertEqual(self.check(rounded, *flags, "--dtype-of", "g=bf16")["verdict"], "right")
        row = lambda arrays, *more: self.run_row(arrays, *flags, *more)
        self.assertGreater(row(rounded), row(rounded, "--dtype-of", "g=bf16"))
        self.refused("--dtype-of names 'gate', and no array is called that", "check", "gated_delta_net", "-i",
                     self.path("in.npz"), "-c", self.path("out.npz"), "--dtype-of", "gate=f32", status=2)
        self.refused("unknown type 'f31'", "check", "gated_delta_net", "-i", self.path("in.npz"), "-c",
                     self.path("out.npz"), "--dtype-of", "state=f31", status=2)

    def run_row(self, arrays, *flags):
        np.savez(self.path("out.npz"), **arrays)
        subprocess.run([PROGRAM, "check", "gated_delta_net", "-i", self.path("in.npz"), "-c", self.path("out.npz"), "--json",
                        self.path("c.json"), *flags], capture_output=True)
        with open(self.path("c.json")) as f:
            return json.load(f)["parts"]["o"]["row"]

    def test_a_file_with_16_bit_arrays_has_the_types_of_all(self):
        x = self.sample("--dtype", "f16")
        narrow = {n: a.astype(np.float16) if n in "qkv" else a for n, a in x.items()}
        np.savez(self.path("in.npz"), **narrow)
        found = self.check(self.forward(), "--dtype", "f16")
        self.assertEqual(found["types"], {"q": "f16", "k": "f16", "v": "f16", "beta": "f32", "alpha": "f32", "state": "f32"})
        with h5py.File(self.path("in.h5"), "w") as f:
            for name, array in narrow.items():
                f[name] = array
        self.run_program("check", "gated_delta_net", "-i", self.path("in.h5"), "-c", self.path("out.npz"), "--dtype", "f16",
                         "--json", self.path("h.json"))
        with open(self.path("h.json")) as f:
            self.assertEqual(json.load(f)["types"], found["types"])

    def test_mistakes_of_conventions_are_in_the_catalogue(self):
        said = self.run_program("check", "--list-mistakes")
        for name in "layout_differs", "state_order_differs", "gate_form_differs", "scale_differs", "beta_not_applied":
            self.assertIn(name + ": ", said)
        self.assertIn("Public reports: vllm #40956", self.run_program("check", "--list-mistakes", "state_order_differs"))
        self.assertIn("Where it shows: ", self.run_program("explain", "scale_differs"))
        listed = self.run_program("list", "conventions")
        self.assertRegex(listed, r"fla +bthd +kv +log +factor +rsqrt +none +alpha lambda state")

    def test_l2norm(self):
        x = self.sample("--l2norm", "1e-6", "--kind", "large-norm", shape="1,4,40,8,6")
        other = [x[n] for n in ("v", "beta", "alpha", "state")]
        self.right(gated_delta(l2norm(x["q"]), l2norm(x["k"]), *other), "--l2norm", "1e-6")
        self.wrong("", gated_delta(x["q"] / np.linalg.norm(x["q"], axis=-1, keepdims=True), l2norm(x["k"], 1e-3), *other),
                   "--l2norm", "1e-6")
        x = self.sample("--l2norm", "1e-6", "--kind", "random")
        # keys of norm 1/2: the layer is stable even without normalisation
        half = {n: x[n] * (0.5 if n in "qk" else 1) for n in x}
        np.savez(self.path("in.npz"), **half)
        other = [x[n] for n in ("v", "beta", "alpha", "state")]
        self.right(gated_delta(l2norm(half["q"]), l2norm(half["k"]), *other), "--l2norm", "1e-6")
        self.wrong("no --l2norm", gated_delta(half["q"], half["k"], *other), "--l2norm", "1e-6")
        self.wrong("right with --l2norm 1e-6", gated_delta(l2norm(half["q"]), l2norm(half["k"]), *other))

    # Grouped heads

    def test_grouped_heads_both_ways(self):
        for flag, heads in ("--qk-heads", (2, 2, 4)), ("--kv-heads", (4, 2, 2)), ("--kv-heads", (4, 1, 1)):
            x = self.sample(flag, str(heads[1]))
            self.assertEqual(tuple(x[n].shape[1] for n in "qkv"), heads)
            self.assertEqual(x["state"].shape, (2, 4, 6, 8))
            arguments = [x[n] for n in ("q", "k", "v", "beta", "alpha", "state")]
            self.right(gated_delta(*arguments))
            if heads[1] > 1:
                self.wrong("h % n", gated_delta(*arguments, head_of=lambda h, n: h % (4 // n)))

    def test_gradients_are_summed_over_a_group(self):
        x = self.sample("--qk-heads", "2", "--grad")
        gradients = self.forward("--gradient")
        self.assertEqual(gradients["dq"].shape, (2, 2, 40, 8))
        self.right(gradients, "--grad")
        repeated = {n: np.repeat(a, 2, 1) if n in "qk" else a for n, a in x.items()}
        np.savez(self.path("in.npz"), **repeated)
        apart = self.forward("--gradient")
        for name in "dq", "dk":
            np.testing.assert_allclose(apart[name][:, 0::2] + apart[name][:, 1::2], gradients[name], rtol=1e-9, atol=1e-12)
        np.savez(self.path("in.npz"), **x)
        # the gradient of one head of the group only
        found = self.wrong("", {**gradients, "dk": apart["dk"][:, 0::2]}, "--grad")
        self.assertEqual({n for n, p in found["parts"].items() if p["verdict"] == "WRONG"}, {"dk"})

    def forward(self, *flags, layer="gated_delta_net"):
        self.run_program("forward", layer, "-i", self.path("in.npz"), "-o", self.path("f.npz"), "--dtype", "f64", *flags)
        with np.load(self.path("f.npz")) as f:
            return {key: f[key] for key in f}

    def test_heads_that_do_not_divide_are_refused(self):
        x = self.sample()
        np.savez(self.path("in.npz"), **{**x, "q": x["q"][:, :3]})
        self.refused("dataset q has 3 heads, which do not divide the 4 heads", "forward", "gated_delta_net", "-i",
                     self.path("in.npz"), "-o", self.path("out.npz"))
        self.refused("must divide the 4 heads", "sample", "linear", "--shape", "1,4,8,4,4", "--kv-heads", "3", "-o",
                     self.path("x.npz"), status=2)

    # Packed texts

    def test_packed_texts(self):
        texts = [(0, 13), (13, 13), (13, 33), (33, 34)]
        for layout in "bhtd", "bthd", "thd":
            x = self.sample("--texts", "13,0,20,1", "--layout", layout, shape="1,2,40,8,6")
            order = {"bhtd": lambda a: a, "bthd": lambda a: a.swapaxes(1, 2), "thd": lambda a: a.swapaxes(0, 1)[None]}[layout]
            arguments = [order(x[n]) for n in ("q", "k", "v", "beta", "alpha")] + [x["state"]]
            self.assertEqual(x["state"].shape, (4, 2, 6, 8))
            back = {"thd": lambda a: a[0].swapaxes(0, 1)}.get(layout, order)
            def kernel(**how):
                found = gated_delta(*arguments, texts, **how)
                return {"o": back(found["o"]), "state": found["state"]}
            self.right(kernel(), "--layout", layout)
            self.wrong("starting from the final state of the one before", kernel(start_of=lambda n, last: last),
                       "--layout", layout)
        found = kernel()
        found["state"][1] *= 1.01  # of the empty text, whose state must be returned unchanged
        found = self.wrong("", found, "--layout", "thd")
        self.assertEqual({n for n, p in found["parts"].items() if p["verdict"] == "WRONG"}, {"state[1]"})
        self.assertIn("text 1", found["where"])

    def test_a_batch_without_a_batch_dimension_is_packed(self):
        x = self.sample("--layout", "thd", "--grad", shape="3,2,5,8,6")
        self.assertEqual((list(x["cu_seqlens"]), x["q"].shape, x["dstate"].shape), ([0, 5, 10, 15], (15, 2, 8), (3, 2, 6, 8)))
        plain = self.sample("--grad", shape="3,2,5,8,6", name="plain.npz")
        for name in "q", "beta", "do":
            np.testing.assert_array_equal(x[name], np.concatenate(list(plain[name].swapaxes(1, 2))))

    def test_integers_are_offsets(self):
        for kind in np.int32, np.int64:
            x = self.sample("--texts", "13,20", "--no-state", shape="1,2,40,8,6")
            np.savez(self.path("in.npz"), **{**x, "cu_seqlens": x["cu_seqlens"].astype(kind)})
            right = gated_delta(*(x[n] for n in ("q", "k", "v", "beta", "alpha")), np.zeros((2, 2, 6, 8)),
                                [(0, 13), (13, 33)])
            self.right(right)
        with h5py.File(self.path("in.h5"), "w") as f:
            for name, array in {**x, "cu_seqlens": x["cu_seqlens"].astype(np.int64)}.items():
                f[name] = array
        self.run_program("check", "gated_delta_net", "-i", self.path("in.h5"), "-c", self.path("out.npz"))
        np.savez(self.path("in.npz"), **{**x, "cu_seqlens": np.array([0, 50])})
        self.refused("cu_seqlens holds 50 after 0, needs whole numbers from 0 up to T = 40", "check", "gated_delta_net",
                     "-i", self.path("in.npz"), "-c", self.path("out.npz"))

    def test_gradients_of_packed_texts(self):
        self.sample("--texts", "13,0,20", "--grad", shape="1,2,40,8,6")
        right = self.forward("--gradient")
        self.assertEqual(right["dstate"].shape, (3, 2, 6, 8))
        np.testing.assert_array_equal(right["dk"][:, :, 33:], 0)
        self.right({n: a.astype(np.float32) for n, a in right.items()}, "--grad")
        right["dk"][:, :, 33:] = np.nan  # not judged
        self.right(right, "--grad")
        right["dk"][:, :, 20] *= 1.01
        found = self.wrong("", right, "--grad")
        self.assertEqual({n for n, p in found["parts"].items() if p["verdict"] == "WRONG"}, {"dk[2]"})

    # Raw gates and write strengths

    def test_raw_gates(self):
        lower = -5
        for gate, g in (("gdn", lambda a, A, b: -np.exp(A) * softplus(a + b)),
                        ("kda-lb", lambda a, A, b: lower * sigmoid(np.exp(A) * (a + b))),
                        ("rwkv", lambda a, A, b: -np.exp(a)), ("log2", lambda a, A, b: a * np.log(2))):
            flags = ["--gate", gate]
            x = self.sample(*flags)
            a = x["a" if gate in ("gdn", "kda-lb") else "alpha"]
            A, b = (x[n][:, None] if n in x else 0 for n in ("A_log", "dt_bias"))
            def kernel(g):
                return gated_delta(x["q"], x["k"], x["v"], x["beta"], np.exp(g), x["state"])
            with self.subTest(gate=gate):
                self.right(kernel(g(a, A, b)), *flags)
                self.wrong("", kernel(g(a, A, b) * 1.1), *flags)

    def test_raw_gates_of_channels(self):
        for gate in "kda", "kda-lb":
            x = self.sample("--gate", gate, layer="gla")
            z = x["a"] + x["dt_bias"][:, None]
            A = np.exp(x["A_log"])[:, None, None]
            g = -A * softplus(z) if gate == "kda" else -5 * sigmoid(A * z)
            def kernel(g):
                S, o = x["state"].copy(), np.empty(x["v"].shape)
                for t in range(40):
                    S = S * np.exp(g[:, :, t])[:, :, None] + np.einsum("bhi,bhj->bhij", x["v"][:, :, t], x["k"][:, :, t])
                    o[:, :, t] = np.einsum("bhij,bhj->bhi", S, x["q"][:, :, t])
                return {"o": o, "state": S}
            self.right(kernel(g), "--gate", gate, layer="gla")
            self.wrong("", kernel(g * 0.9), "--gate", gate, layer="gla")

    def test_gradients_of_raw_gates(self):
        for dtype in "f32", "bf16":
            self.sample("--gate", "gdn", "--beta", "sigmoid", "--l2norm", "1e-6", "--scale", "rsqrt", "--dtype", dtype,
                        "--grad")
            flags = ["--gate", "gdn", "--beta", "sigmoid", "--l2norm", "1e-6", "--scale", "rsqrt"]
            right = self.forward("--gradient", *flags)
            self.assertLessEqual({"da", "dA_log", "ddt_bias", "db"}, set(right))
            self.assertEqual(right["dA_log"].shape, (4,))
            rounded = {n: a.astype(np.float32) for n, a in right.items()}
            self.right(rounded, "--grad", "--dtype", dtype, *flags)
            for name in "dA_log", "ddt_bias", "da", "db", "dq":
                wrong = {**rounded, name: rounded[name] * 1.5}
                found = self.wrong("", wrong, "--grad", "--dtype", dtype, *flags)
                self.assertEqual({n for n, p in found["parts"].items() if p["verdict"] == "WRONG"}, {name})
                definition = {"da": "dalpha", "db": "dbeta"}.get(name)
                self.assertEqual(found["parts"][name].get("definition"), definition)

    def test_parameters_of_gates_are_asked_for(self):
        x = self.sample("--gate", "gdn")
        del x["A_log"]
        np.savez(self.path("in.npz"), **x)
        self.refused("dataset A_log is absent, and --gate gdn needs it as [H]", "forward", "gated_delta_net", "-i",
                     self.path("in.npz"), "-o", self.path("out.npz"), "--gate", "gdn")

    def test_write_strengths(self):
        for strength, f in ("sigmoid", sigmoid), ("double", lambda b: 2 * b), ("sigmoid-double", lambda b: 2 * sigmoid(b)):
            x = self.sample("--beta", strength)
            b = x["beta" if strength == "double" else "b"]
            kernel = lambda beta: gated_delta(x["q"], x["k"], x["v"], beta, x["alpha"], x["state"])
            self.right(kernel(f(b)), "--beta", strength)
            if strength != "sigmoid":
                other = {"double": "factor", "sigmoid-double": "sigmoid"}[strength]
                self.wrong("right with --beta " + other, kernel(f(b) / 2), "--beta", strength)
            else:
                self.wrong("right with --beta sigmoid-double", kernel(2 * f(b)), "--beta", strength)

    def test_a_decay_a_head(self):
        x = self.sample("--no-state", layer="mamba2")
        gamma = np.array([0.9, 0.95, 0.97, 0.99])
        given = {n: x[n] for n in "qkv"}
        np.savez(self.path("in.npz"), **given, gamma=gamma)
        def kernel(gamma):
            S, o = np.zeros((2, 4, 6, 8)), np.empty(x["v"].shape)
            for t in range(40):
                S = S * gamma[:, None, None] + np.einsum("bhi,bhj->bhij", x["v"][:, :, t], x["k"][:, :, t])
                o[:, :, t] = np.einsum("bhij,bhj->bhi", S, x["q"][:, :, t])
            return {"o": o, "state": S}
        self.right(kernel(gamma), layer="mamba2")
        self.wrong("", kernel(gamma[::-1]), layer="mamba2")

    def test_a_battery_in_a_convention(self):
        given, computed = self.path("given"), self.path("out")
        self.run_program("sample", "linear", "--battery", given, "--convention", "flashinfer")
        os.makedirs(computed)
        for name in os.listdir(given):
            self.run_program("forward", "linear", "-i", os.path.join(given, name), "-o", os.path.join(computed, name),
                             "--convention", "flashinfer", "--dtype", "f64")
        arguments = ["check", "linear", "--battery", given, "-c", computed, "--convention", "flashinfer"]
        self.assertRegex(self.run_program(*arguments), r"\d\d passed, 0 failed\n$")
        self.assertIn("right with --scale rsqrt", self.run_program(*arguments, "--scale", "1", status=1))

    # Missing arrays and unknown names

    def test_a_backward_pass_alone(self):
        self.sample("--grad")
        right = {n: a for n, a in self.forward("--gradient").items() if n not in ("o", "state")}
        found = self.check(right, "--grad")
        self.assertEqual((found["verdict"], found["not_checked"]), ("right", ["o", "state"]))
        found = self.wrong("", {**right, "dv": right["dv"] * 1.1}, "--grad")
        self.assertEqual({n for n, p in found["parts"].items() if p.get("verdict") == "WRONG"}, {"dv"})

    def test_unknown_datasets_are_named_with_the_known_ones(self):
        x = self.sample()
        np.savez(self.path("in.npz"), **x, gat=x["alpha"])
        for command in "check", "forward":
            self.refused("dataset gat is not an input", command, "gated_delta_net", "-i", self.path("in.npz"),
                         *(["-c", self.path("in.npz")] if command == "check" else ["-o", self.path("out.npz")]))
        said = self.run_program("check", "gated_delta_net", "-i", self.path("in.npz"), "-c", self.path("in.npz"), status=3)
        self.assertIn("known are q, k, v, beta, alpha, gamma, state, cu_seqlens, do, dstate", said)

    def test_flags_are_checked(self):
        def refused(message, *flags):
            said = self.run_program("sample", "linear", "--shape", "1,1,8,4,4", "-o", self.path("x.npz"), *flags, status=2)
            self.assertIn(message, said)
        refused("--scale", "--scale", "sqrt")
        refused("--l2norm", "--l2norm", "-1")
        refused("--gate", "--gate", "logs")
        refused("the scale is given twice", "--scale", "2", "--set", "scale=2")
        refused("--texts needs whole numbers that add up to at most T = 8", "--texts", "4,5")


if __name__ == "__main__":
    unittest.main()
