# SPDX-License-Identifier: Apache-2.0
"""`sample` and `check` as a kernel engineer uses them: right kernels pass, each known mistake is named."""
import json
import os
import subprocess
import unittest

import h5py
import numpy as np
from in_folder import InFolder

PROGRAM = os.environ["RECOLLECT_PROGRAM"]


def gated_delta(x, alpha=None, beta=None, q=None, read_first=False, reset=None, state=True):
    """The gated delta rule as a user would write it in NumPy: [B,H,T,D], decay, erase, write, read."""
    alpha = x["alpha"] if alpha is None else alpha
    beta = x["beta"] if beta is None else beta
    q = x["q"] if q is None else q
    B, H, T, D = q.shape
    S, o = np.zeros((B, H, x["v"].shape[-1], D)), np.empty_like(x["v"])
    for t in range(T):
        if reset and t % reset == 0:
            S = np.zeros_like(S)
        k, v = x["k"][:, :, t, :, None], x["v"][:, :, t, :, None]
        if read_first:
            o[:, :, t] = (S @ q[:, :, t, :, None])[..., 0]
        S = S * alpha[:, :, t, None, None]
        S = S + beta[:, :, t, None, None] * (v - S @ k) @ np.swapaxes(k, -1, -2)
        if not read_first:
            o[:, :, t] = (S @ q[:, :, t, :, None])[..., 0]
    return {"o": o, "state": S}


def gated_delta_gradient(x, do, dstate=0, dk_sign=1, state_gate=True):
    """Its adjoint, last step to first: what a user's backward kernel computes."""
    q, k, v, alpha, beta = (x[name] for name in ("q", "k", "v", "alpha", "beta"))
    B, H, T, D = q.shape
    S = [np.zeros((B, H, v.shape[-1], D))]
    for t in range(T):
        a, b = alpha[:, :, t, None, None], beta[:, :, t, None, None]
        K = k[:, :, t, None, :]
        S.append(a * S[-1] + b * (v[:, :, t, :, None] - a * S[-1] @ K.swapaxes(-1, -2)) @ K)
    g = {"d" + name: np.zeros_like(x[name]) for name in ("q", "k", "v", "beta", "alpha")}
    dS = np.zeros_like(S[0]) + dstate
    for t in reversed(range(T)):
        a, b, K = alpha[:, :, t], beta[:, :, t], k[:, :, t]
        g["dq"][:, :, t] = np.einsum("bhij,bhi->bhj", S[t + 1], do[:, :, t])
        dS = dS + np.einsum("bhi,bhj->bhij", do[:, :, t], q[:, :, t])
        decayed = a[..., None, None] * S[t]
        residual = v[:, :, t] - np.einsum("bhij,bhj->bhi", decayed, K)
        dwrite = np.einsum("bhij,bhj->bhi", dS, K)  # of b residual
        g["dbeta"][:, :, t] = (dwrite * residual).sum(-1)
        g["dv"][:, :, t] = b[..., None] * dwrite
        g["dk"][:, :, t] = dk_sign * b[..., None] * (np.einsum("bhij,bhi->bhj", dS, residual)
                                                      - np.einsum("bhij,bhi->bhj", decayed, dwrite))
        ddecayed = dS - b[..., None, None] * np.einsum("bhi,bhj->bhij", dwrite, K)
        g["dalpha"][:, :, t] = (ddecayed * S[t]).sum((-1, -2))
        dS = a[..., None, None] * ddecayed if state_gate else ddecayed
    return {**g, "dstate": dS}


class Check(InFolder):
    def run_program(self, *arguments, status=0):
        done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout

    def sample(self, variant, *flags, name="in.npz", shape="2,2,100,8,6"):
        self.run_program("sample", variant, "--shape", shape, "-o", self.path(name), *flags)
        if name.endswith(".npz"):
            with np.load(self.path(name)) as f:
                return {key: f[key] for key in f}
        with h5py.File(self.path(name)) as f:
            return {key: f[key][:] for key in f if key != "meta"}

    def check(self, variant, arrays, *flags, status=0, source="in.npz"):
        np.savez(self.path("out.npz"), **arrays)
        self.run_program("check", variant, "-i", self.path(source), "-c", self.path("out.npz"),
                         "--json", self.path("c.json"), *flags, status=status)
        with open(self.path("c.json")) as f:
            return json.load(f)

    def test_samples_are_what_their_kind_says(self):
        x = self.sample("gated_delta_net")
        self.assertEqual({n: a.shape for n, a in x.items()}, {"q": (2, 2, 100, 8), "k": (2, 2, 100, 8),
                         "v": (2, 2, 100, 6), "beta": (2, 2, 100), "alpha": (2, 2, 100)})
        np.testing.assert_allclose(np.linalg.norm(x["k"], axis=-1), 1)
        self.assertEqual(self.sample("linear", "--kind", "ragged", shape="1,1,64,4,4")["q"].shape[2], 63)
        self.assertEqual(self.sample("linear", "--kind", "long", shape="1,1,8,4,4")["q"].shape[2], 128)
        self.assertLess(self.sample("gla", "--kind", "tiny-gates")["lambda"].min(), 1e-4)
        k = self.sample("linear", "--kind", "repeated-keys")["k"]
        self.assertGreater((k[0, 0] @ k[0, 0].T).min(), 0.9)
        self.assertEqual(self.sample("linear", name="in.h5")["q"].shape, (2, 2, 100, 8))
        self.run_program("sample", "linear", "--shape", "1,1,1,1,1", "--kind", "odd", "-o", self.path("x.npz"), status=2)

    def test_layouts_and_logarithms_are_conventions(self):
        plain = self.sample("gated_delta_net")
        other = self.sample("gated_delta_net", "--layout", "bthd", "--log-gates", name="other.npz")
        np.testing.assert_array_equal(plain["q"], other["q"].swapaxes(1, 2))
        np.testing.assert_allclose(plain["alpha"], np.exp(other["alpha"]).swapaxes(1, 2), rtol=1e-15)
        right = gated_delta(plain)
        right["o"] = right["o"].swapaxes(1, 2)
        np.savez(self.path("out.npz"), **right)
        self.run_program("check", "gated_delta_net", "-i", self.path("other.npz"), "-c", self.path("out.npz"),
                         "--layout", "bthd", "--log-gates")

    def test_a_right_kernel_passes_in_every_type(self):
        x = self.sample("gated_delta_net")
        right = gated_delta(x)
        found = self.check("gated_delta_net", right)
        self.assertTrue(found["right"] and found["state"]["worst"] < 1e-6)
        self.check("gated_delta_net", {n: a.astype(np.float32) for n, a in right.items()})
        half = gated_delta({n: a.astype(np.float16).astype(np.float64) for n, a in x.items()})
        self.check("gated_delta_net", {n: a.astype(np.float16) for n, a in half.items()}, "--dtype", "f16")
        self.check("gated_delta_net", {n: a.astype(np.float16) for n, a in half.items()}, "--dtype", "f32", status=1)

    def test_known_mistakes_are_named(self):
        x = self.sample("gated_delta_net")
        wrong = {
            "alpha is not applied": gated_delta(x, alpha=np.ones_like(x["alpha"])),
            "alpha is applied twice": gated_delta(x, alpha=x["alpha"] ** 2),
            "alpha is taken for its logarithm: exp(alpha) is applied": gated_delta(x, alpha=np.exp(x["alpha"])),
            "alpha's logarithm is applied in its place": gated_delta(x, alpha=np.log(x["alpha"])),
            "beta is not applied": gated_delta(x, beta=np.ones_like(x["beta"])),
            "beta is applied twice": gated_delta(x, beta=x["beta"] ** 2),
            "the scale 1/sqrt(Dk) is applied, or applied twice": gated_delta(x, q=x["q"] / np.sqrt(8)),
            "it reads before it writes: o_t sees steps before t only": gated_delta(x, read_first=True),
            "the state is not handed over between chunks of 32": gated_delta(x, reset=32),
            "queries and keys are exchanged": gated_delta({**x, "q": x["k"], "k": x["q"]}),
            "the output is laid out [B,T,H,D]": {"o": gated_delta(x)["o"].swapaxes(1, 2).reshape(x["v"].shape)},
        }
        for name, arrays in wrong.items():
            found = self.check("gated_delta_net", {"o": arrays["o"]}, status=1)
            self.assertEqual(found["diagnosis"], name)
            self.assertIn("recollect check gated_delta_net --input", found["command"])

    def test_the_first_wrong_element_is_found(self):
        x = self.sample("gated_delta_net")
        arrays = gated_delta(x)
        arrays["o"][1, 0, 41, 3] += 0.01
        arrays["o"][0, 1, 60, 0] = np.nan
        found = self.check("gated_delta_net", arrays, status=1)
        self.assertEqual(found["outputs"]["first_bad"], [1, 0, 41, 3])
        self.assertEqual(found["outputs"]["worst"], "inf")
        bad = [part for part in found["by_step"] if part["worst"] == "inf" or part["worst"] > 1e-3]  # error against t
        self.assertEqual([any(part["from"] <= t < part["to"] for part in bad) for t in (0, 41, 60)], [False, True, True])
        self.assertEqual(found["diagnosis"], "")
        arrays = gated_delta(x)
        arrays["state"][1, 1, 2, 5] += 0.01
        found = self.check("gated_delta_net", arrays, status=1)
        self.assertEqual((found["outputs"]["first_bad"], found["state"]["first_bad"]), (None, [1, 1, 2, 5]))

    def test_right_gradients_pass_and_wrong_ones_are_named(self):
        x = self.sample("gated_delta_net", "--grad", shape="1,2,40,8,6")
        do, dstate = x["do"], x["dstate"]
        self.assertEqual((do.shape, dstate.shape), ((1, 2, 40, 6), (1, 2, 6, 8)))
        self.assertNotIn("dstate", self.sample("softmax", "--grad", name="softmax.npz"))
        right = {**gated_delta(x), **gated_delta_gradient(x, do, dstate)}
        found = self.check("gated_delta_net", right, "--grad")
        self.assertEqual(list(found["gradient"]), ["dq", "dk", "dv", "dbeta", "dalpha", "dstate"])
        for name, part in found["gradient"].items():
            self.assertLess(part["worst"], 1e-12, name)
            self.assertTrue(1 <= part["condition"] < 100, name)
        self.check("gated_delta_net", {name: array.astype(np.float32) for name, array in right.items()}, "--grad")

        def wrong(**arrays):
            found = self.check("gated_delta_net", {**right, **arrays}, "--grad", status=1)
            self.assertIsNone(found["outputs"]["first_bad"])
            self.assertIn("--grad", found["command"])
            return {name: part["diagnosis"] for name, part in found["gradient"].items() if part["first_bad"]}
        self.assertEqual(wrong(**gated_delta_gradient(x, do, dstate, dk_sign=-1)), {"dk": "its sign is flipped"})
        ungated = wrong(**gated_delta_gradient(x, do, dstate, state_gate=False))  # dq does not pass through dS
        self.assertEqual(set(ungated), {"dk", "dv", "dbeta", "dalpha", "dstate"})
        self.assertEqual(wrong(dalpha=0 * right["dalpha"]), {"dalpha": "it is zero"})
        ignored = gated_delta_gradient(x, do)
        self.assertEqual(set(wrong(**ignored).values()), {"dstate of the final state is ignored"})
        last = right["dbeta"].copy()
        last[0, 1, 17] *= 1.01
        self.assertEqual(wrong(dbeta=last), {"dbeta": ""})
        half = {name: array.astype(np.float16).astype(float) for name, array in right.items()}
        self.check("gated_delta_net", half, "--grad", "--dtype", "f16")
        self.check("gated_delta_net", half, "--grad", status=1)

    def test_gradients_in_logarithms_of_gates(self):
        x = self.sample("gated_delta_net", shape="1,2,40,8,6")
        x["do"] = np.random.default_rng(1).normal(size=x["v"].shape)
        right = {**gated_delta(x), **gated_delta_gradient(x, x["do"])}
        np.savez(self.path("in.npz"), **{**x, "alpha": np.log(x["alpha"])})
        self.check("gated_delta_net", right, "--grad", "--log-gates", status=1)
        right["dalpha"] *= x["alpha"]
        self.check("gated_delta_net", right, "--grad", "--log-gates")

    def test_gradients_that_are_not_there_are_refused(self):
        x = self.sample("gated_delta_net", shape="1,2,10,8,6")
        np.savez(self.path("out.npz"), **gated_delta(x))
        arguments = ["check", "gated_delta_net", "-i", self.path("in.npz"), "-c", self.path("out.npz"), "--grad"]
        def refused(message):
            done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True)
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertIn(message, done.stderr)
        refused("in.npz: dataset do is absent")
        np.savez(self.path("in.npz"), do=x["v"], **x)
        refused("out.npz: dataset dq is absent")
        right = {**gated_delta(x), **gated_delta_gradient(x, x["v"])}
        del right["dalpha"]
        np.savez(self.path("out.npz"), **right)
        refused("out.npz: dataset dalpha is absent, needs [B,H,T]")

    def test_bad_files_are_refused_in_one_line(self):
        self.sample("linear")
        def refused(message, *arguments, status=3):
            done = subprocess.run([PROGRAM, "check", *arguments], capture_output=True, text=True)
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertIn(message, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1)
        np.savez(self.path("small.npz"), o=np.zeros((1, 2, 3, 4)))
        refused("needs [2,2,100,6]", "linear", "-i", self.path("in.npz"), "-c", self.path("small.npz"))
        np.savez(self.path("integers.npz"), o=np.zeros((2, 2, 100, 6), int))
        refused("floating point", "linear", "-i", self.path("in.npz"), "-c", self.path("integers.npz"))
        np.savez(self.path("fortran.npz"), o=np.asfortranarray(np.zeros((2, 2, 100, 6))))
        refused("Fortran order", "linear", "-i", self.path("in.npz"), "-c", self.path("fortran.npz"))
        np.savez(self.path("other.npz"), p=np.zeros(3))
        refused("o is absent", "linear", "-i", self.path("in.npz"), "-c", self.path("other.npz"))
        with open(self.path("junk.npz"), "w") as f:
            f.write("junk")
        refused("not a readable .npz", "linear", "-i", self.path("in.npz"), "-c", self.path("junk.npz"))
        refused("unknown type 'bf17', did you mean 'bf16'?", "linear", "-i", self.path("in.npz"), "-c", self.path("small.npz"),
                "--dtype", "bf17", status=2)
        refused("needs a variant", status=2)

    def test_every_form_checks_itself(self):
        said = self.run_program("check", "--self", "gated_delta_net", "--junit", self.path("j.xml"))
        self.assertRegex(said, r"^\d\d passed, 0 failed\n$")
        with open(self.path("j.xml")) as f:
            self.assertIn('name="gated_delta_net/chunked/repeated-keys/T:80/Dk:8/f32"', f.read())


if __name__ == "__main__":
    unittest.main()
