# SPDX-License-Identifier: Apache-2.0
"""Users' conventions on the command line: names of parts, types of arrays, places of faults, refusals. test_conventions.py
has a correct and a wrong kernel for each convention."""
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

    def test_a_fault_in_one_packed_text_is_placed_there(self):
        flags = ["--convention", "fla"]
        self.sample(*flags, "--texts", "7,0,30", "--grad", shape="1,4,40,8,6")
        right = self.forward("--gradient", *flags)
        texts = [{"from": 0, "to": 7, "verdict": "right"}, {"from": 7, "to": 7, "verdict": "right"},
                 {"from": 7, "to": 37, "verdict": "right"}]
        self.assertEqual(self.check(right, *flags, "--grad")["texts"], texts)
        self.assertEqual(self.check({"o": right["o"]}, *flags)["texts"][1]["verdict"], None)  # an empty text has no o
        step = (0, 20, 1)  # step 13 of text 2
        state = (2, 1, 0, 0)
        for name, at, text, said in (
                ("o", step, 2, "o: head 1, step 13"), ("dk", step, 2, "dk: head 1, step 13"),
                ("o", (0, 5, 1), 0, "o: head 1, step 5"), ("dg", step, 2, "dg (dalpha): head 1, step 13"),
                ("final_state", state, 2, "final_state (state): head 1"), ("dh0", state, 2, "dh0 (dstate): head 1"),
                ("final_state", (1, *state[1:]), 1, "final_state (state): head 1")):
            with self.subTest(name=name, text=text):
                array = right[name].copy()
                array[at] += 1
                found = self.wrong("", {**right, name: array}, *flags, "--grad")
                bad = {part for part, one in found["parts"].items() if one["verdict"] == "WRONG"}
                self.assertEqual(bad, {f"{name}[{text}]"})
                self.assertEqual([one["verdict"] for one in found["texts"]],
                                 ["WRONG" if i == text else "right" for i in range(3)])
                title = f"text {text} (its step 0 is step 7): " if text == 2 else f"text {text}: "
                self.assertTrue(found["where"].startswith(title), found["where"])
                self.assertIn(said, found["where"])
                if at == step:
                    self.assertEqual(found["parts"][f"{name}[2]"]["first_bad"][1:3], [1, 13])
        said = self.run_program("check", "gated_delta_net", "-i", self.path("in.npz"), "-c", self.path("out.npz"), *flags,
                                "--grad", status=1)
        self.assertIn("\nwhere: text 1: ", said)
        self.assertEqual(said.count(": WRONG;"), 1)

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
        self.refused("dataset D has 3 heads, which do not divide the 4 heads of the others", "forward", "mamba2", "-i",
                     self.path("in.npz"), "-o", self.path("out.npz"), *flags)
        self.refused("--with D is for kernels of Mamba", "sample", "mamba2", "--shape", "1,1,4,4,4", "--with", "D", "-o",
                     self.path("x.npz"), status=2)

    def test_a_switch_changes_a_preset(self):
        flags = ["--convention", "fla", "--layout", "bhtd", "--state", "vk", "--gate", "factor", "--scale", "1"]
        self.sample(*flags)
        found = self.forward(*flags)
        found["ht"] = found.pop("final_state")  # another name of it
        self.right(found, *flags)
        self.assertIn(" ".join(flags), self.check(found, *flags)["command"])

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
        self.refused("--dtype-of names 'gate', but no array has this name", "check", "gated_delta_net", "-i",
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

    # Grouped heads

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

    def test_a_batch_without_a_batch_dimension_is_packed(self):
        x = self.sample("--layout", "thd", "--grad", shape="3,2,5,8,6")
        self.assertEqual((list(x["cu_seqlens"]), x["q"].shape, x["dstate"].shape), ([0, 5, 10, 15], (15, 2, 8), (3, 2, 6, 8)))
        plain = self.sample("--grad", shape="3,2,5,8,6", name="plain.npz")
        for name in "q", "beta", "do":
            np.testing.assert_array_equal(x[name], np.concatenate(list(plain[name].swapaxes(1, 2))))

    def test_integers_are_offsets(self):
        for kind in np.int32, np.int64:
            x = self.sample("--texts", "13,20", "--no-state", shape="1,2,40,8,6")
            right = self.forward()
            np.savez(self.path("in.npz"), **{**x, "cu_seqlens": x["cu_seqlens"].astype(kind)})
            self.right(right)
        with h5py.File(self.path("in.h5"), "w") as f:
            for name, array in {**x, "cu_seqlens": x["cu_seqlens"].astype(np.int64)}.items():
                f[name] = array
        self.run_program("check", "gated_delta_net", "-i", self.path("in.h5"), "-c", self.path("out.npz"))
        np.savez(self.path("in.npz"), **{**x, "cu_seqlens": np.array([0, 50])})
        self.refused("cu_seqlens holds 50 after 0, needs whole numbers from 0 up to T = 40", "check", "gated_delta_net",
                     "-i", self.path("in.npz"), "-c", self.path("out.npz"))

    # Raw gates and write strengths

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
        self.refused("dataset A_log is absent, but --gate gdn needs it as [H]", "forward", "gated_delta_net", "-i",
                     self.path("in.npz"), "-o", self.path("out.npz"), "--gate", "gdn")

    def test_a_battery_in_a_convention(self):
        given, computed = self.path("given"), self.path("out")
        self.run_program("sample", "linear", "--battery", given, "--convention", "flashinfer")
        os.makedirs(computed)
        for name in os.listdir(given):
            self.run_program("forward", "linear", "-i", os.path.join(given, name), "-o", os.path.join(computed, name),
                             "--convention", "flashinfer", "--dtype", "f64")
        arguments = ["check", "linear", "--battery", given, "-c", computed, "--convention", "flashinfer"]
        self.assertRegex(self.run_program(*arguments), r"(?m)^\d\d passed, 0 failed$")
        self.assertIn("right with --scale rsqrt", self.run_program(*arguments, "--scale", "1", status=1))

    # Missing arrays and unknown names

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
