# SPDX-License-Identifier: Apache-2.0
"""`sample` and `check` used like a kernel engineer does: correct kernels pass, each known mistake is named."""
import json
import os
import re
import resource
import subprocess
import unittest

import h5py
import numpy as np
from in_folder import InFolder

PROGRAM = os.environ["RECOLLECT_PROGRAM"]


def gated_delta(x, alpha=None, beta=None, q=None, read_first=False, reset=None, state=True):
    """The gated delta rule as a user would write it in NumPy, [B,H,T,D]: decay, erase, write, read."""
    alpha = x["alpha"] if alpha is None else alpha
    beta = x["beta"] if beta is None else beta
    q = x["q"] if q is None else q
    B, H, T, D = q.shape
    S, o = np.zeros((B, H, x["v"].shape[-1], D)), np.empty_like(x["v"])
    if state and "state" in x:
        S = S + x["state"]
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
    """Its adjoint from the last step to the first: the result of a user's backward kernel."""
    q, k, v, alpha, beta = (x[name] for name in ("q", "k", "v", "alpha", "beta"))
    B, H, T, D = q.shape
    S = [x["state"] if "state" in x else np.zeros((B, H, v.shape[-1], D))]
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

    def refused(self, message, *arguments, status=3):
        done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertIn(message, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1)

    def test_samples_are_what_their_kind_says(self):
        x = self.sample("gated_delta_net")
        self.assertEqual({n: a.shape for n, a in x.items()}, {"q": (2, 2, 100, 8), "k": (2, 2, 100, 8),
                         "v": (2, 2, 100, 6), "beta": (2, 2, 100), "alpha": (2, 2, 100), "state": (2, 2, 6, 8)})
        np.testing.assert_allclose(np.linalg.norm(x["k"], axis=-1), 1)
        self.assertTrue(x["alpha"].min() < 0.5 and x["alpha"].max() > 0.999)
        self.assertNotIn("state", self.sample("gated_delta_net", "--no-state"))
        self.assertNotIn("state", self.sample("softmax"))
        for name in "odd-length", "ragged":  # the old name is still accepted
            self.assertEqual(self.sample("linear", "--kind", name, shape="1,1,64,4,4")["q"].shape[2], 63)
        self.assertEqual(self.sample("linear", "--kind", "long", shape="1,1,8,4,4")["q"].shape[2], 128)
        self.assertLess(self.sample("gla", "--kind", "tiny-gates")["lambda"].min(), 1e-4)
        k = self.sample("linear", "--kind", "repeated-keys")["k"]
        self.assertGreater((k[0, 0] @ k[0, 0].T).min(), 0.9)
        loud = self.sample("delta_net", "--kind", "large-norm", shape="1,2,200,16,8")
        self.assertLess((loud["beta"] * (loud["k"] ** 2).sum(-1)).max(), 2)  # the layer is stable with these inputs
        self.assertEqual(self.sample("linear", name="in.h5")["q"].shape, (2, 2, 100, 8))
        self.run_program("sample", "linear", "--shape", "1,1,1,1,1", "--kind", "odd", "-o", self.path("x.npz"), status=2)

    def test_samples_are_numbers_of_the_type(self):
        for dtype, bits in ("bf16", 8), ("f16", 11):
            for name, array in self.sample("gated_delta_net", "--dtype", dtype, "--grad").items():
                self.assertEqual(array.dtype, np.float32)
                mantissa, _ = np.frexp(array[np.abs(array) > 1e-4].astype(np.float64))
                np.testing.assert_array_equal(mantissa * 2**bits % 1, 0, name)
        x = self.sample("gated_delta_net", "--dtype", "bf16", "--gate", "log")["alpha"]
        # logarithms are exact in the kernel's type
        np.testing.assert_array_equal(np.frexp(x.astype(np.float64))[0] * 2**8 % 1, 0)

    def test_a_right_kernel_passes_in_every_type(self):
        x = self.sample("gated_delta_net", "--dtype", "f16")
        right = gated_delta({n: a.astype(np.float64) for n, a in x.items()})
        for dtype in "f64", "f32", "tf32", "f16", "bf16":
            found = self.check("gated_delta_net", right, "--dtype", dtype)
            self.assertEqual((found["verdict"], found["dtype"]), ("right", dtype))
            self.assertTrue(found["right"] and found["parts"]["state"]["worst"] < 1e-6)
        self.check("gated_delta_net", {n: a.astype(np.float32) for n, a in right.items()})
        half = {n: a.astype(np.float16) for n, a in right.items()}
        self.check("gated_delta_net", half, "--dtype", "f16")
        self.assertEqual(self.check("gated_delta_net", half, "--dtype", "f32", status=1)["verdict"], "WRONG")

    def test_zeros_are_wrong_in_every_type(self):
        x = self.sample("gated_delta_net", "--dtype", "bf16")
        right = gated_delta({n: a.astype(np.float64) for n, a in x.items()})
        for dtype in "f64", "f32", "tf32", "f16", "bf16":
            for name in "o", "state":
                found = self.check("gated_delta_net", {**right, name: 0 * right[name]}, "--dtype", dtype, status=1)
                self.assertEqual({n: p["verdict"] for n, p in found["parts"].items()},
                                 {**dict.fromkeys(right, "right"), name: "WRONG"})

    def test_what_was_found_is_all_in_the_json(self):
        x = self.sample("gated_delta_net", "--seed", "7", "--grad", name="in.h5", shape="1,2,40,8,6")
        found = self.check("gated_delta_net", {"o": gated_delta(x)["o"]}, "--grad", "--chunk", "1000000", source="in.h5")
        self.assertEqual((found["shape"], found["seed"]), ({"B": 1, "H": 2, "T": 40, "Dk": 8, "Dv": 6}, "7"))
        self.assertEqual(found["not_checked"], ["state", "dq", "dk", "dv", "dbeta", "dalpha", "dstate"])
        self.assertEqual(found["parts"]["dq"], {"checked": False})
        self.assertTrue(found["parts"]["o"]["checked"])
        self.assertGreater(found["parts"]["o"]["limits"]["row"], found["parts"]["o"]["row"])
        self.assertIn("--chunk 1000000", found["command"])
        self.assertIn("q", found["inexact_inputs"])  # float64 numbers, which float32 cannot represent
        wrong = {"o": np.full((1, 2, 40, 6), np.nan)}
        found = self.check("gated_delta_net", wrong, "--chunk", "1000000", status=1, source="in.h5")
        o = found["parts"]["o"]
        self.assertEqual((o["finite"], o["worst"], o["row"], o["first_bad"]), (False, None, None, [0, 0, 0, 0]))
        self.assertEqual({(part["finite"], part["worst"]) for part in found["by_step"]}, {(False, None)})

    def test_what_was_not_checked_is_said(self):
        x = self.sample("gated_delta_net", "--no-state")
        right = gated_delta(x)
        np.savez(self.path("out.npz"), o=right["o"], dq=x["q"])
        arguments = ["check", "gated_delta_net", "-i", self.path("in.npz"), "-c", self.path("out.npz")]
        self.assertIn("not checked: state, dq\n", self.run_program(*arguments))
        np.savez(self.path("out.npz"), dq=x["q"])
        self.assertIn("gated_delta_net: cannot decide\nreason: ", self.run_program(*arguments, status=1))

    def test_what_nobody_asked_for_is_refused_by_name(self):
        x = self.sample("gated_delta_net")
        right = gated_delta(x)
        arguments = ["check", "gated_delta_net", "-i", self.path("in.npz"), "-c", self.path("out.npz")]
        np.savez(self.path("out.npz"), o=right["o"], final_state=right["state"])
        self.refused("out.npz: dataset final_state is not what gated_delta_net computes, did you mean 'state'?", *arguments)
        np.savez(self.path("out.npz"), **right)
        np.savez(self.path("in.npz"), initial_state=x.pop("state"), **x)
        self.refused("in.npz: dataset initial_state is not an input of gated_delta_net, did you mean 'state'?", *arguments)
        np.savez(self.path("in.npz"), seq_idx=np.zeros(3), **x)
        self.refused("in.npz: dataset seq_idx is not an input of gated_delta_net", *arguments)
        with h5py.File(self.path("in.h5"), "w") as f:
            for name, array in {**x, "lambda": x["k"]}.items():
                f[name] = array
        arguments[3] = self.path("in.h5")
        self.refused("in.h5: dataset lambda is not an input of gated_delta_net", *arguments)

    def test_known_mistakes_are_named(self):
        x = self.sample("gated_delta_net")
        wrong = [
            gated_delta(x, alpha=np.ones_like(x["alpha"])),
            gated_delta(x, alpha=x["alpha"] ** 2),
            gated_delta(x, beta=np.ones_like(x["beta"])),
            gated_delta(x, q=x["q"] / np.sqrt(8)),
            gated_delta(x, read_first=True),
            gated_delta(x, reset=32, state=False),
            gated_delta(x, state=False),
        ]
        named = set()
        for arrays in wrong:
            found = self.check("gated_delta_net", {"o": arrays["o"]}, status=1)
            self.assertTrue(1 <= len(found["diagnosis"]) <= 2, found)
            named.add(tuple(found["diagnosis"]))
            self.assertIn("recollect check gated_delta_net --input", found["command"])
        self.assertEqual(len(named), len(wrong))

    def test_the_first_wrong_element_is_found(self):
        x = self.sample("gated_delta_net")
        arrays = gated_delta(x)
        arrays["o"][1, 0, 41, 3] += 0.01
        arrays["o"][0, 1, 60, 0] = np.nan
        found = self.check("gated_delta_net", arrays, status=1)
        o = found["parts"]["o"]
        self.assertEqual((o["first_bad"], o["worst"], o["finite"]), ([1, 0, 41, 3], None, False))
        bad = [part for part in found["by_step"] if not part["finite"] or part["worst"] > 1e-3]  # error over t
        self.assertEqual([any(part["from"] <= t < part["to"] for part in bad) for t in (0, 41, 60)], [False, True, True])
        self.assertEqual(found["diagnosis"], [])
        arrays = gated_delta(x)
        arrays["state"][1, 1, 2, 5] += 0.01
        found = self.check("gated_delta_net", arrays, status=1)["parts"]
        self.assertEqual((found["o"]["first_bad"], found["state"]["first_bad"]), (None, [1, 1, 2, 5]))

    def test_right_gradients_pass_and_wrong_ones_do_not(self):
        x = self.sample("gated_delta_net", "--grad", shape="1,2,40,8,6")
        do, dstate = x["do"], x["dstate"]
        self.assertEqual((do.shape, dstate.shape), ((1, 2, 40, 6), (1, 2, 6, 8)))
        self.assertNotIn("dstate", self.sample("softmax", "--grad", name="softmax.npz"))
        right = {**gated_delta(x), **gated_delta_gradient(x, do, dstate)}
        found = self.check("gated_delta_net", right, "--grad")
        self.assertEqual(list(found["parts"]), ["o", "state", "dq", "dk", "dv", "dbeta", "dalpha", "dstate"])
        for name, part in found["parts"].items():
            self.assertLess(part["worst"], 1e-12, name)
        self.check("gated_delta_net", {name: array.astype(np.float32) for name, array in right.items()}, "--grad")

        def wrong(**arrays):
            found = self.check("gated_delta_net", {**right, **arrays}, "--grad", status=1)
            self.assertIn("--grad", found["command"])
            return {name for name, part in found["parts"].items() if part["verdict"] == "WRONG"}
        self.assertEqual(wrong(**gated_delta_gradient(x, do, dstate, dk_sign=-1)), {"dk"})
        ungated = wrong(**gated_delta_gradient(x, do, dstate, state_gate=False))  # dq does not depend on dS
        self.assertEqual(ungated, {"dk", "dv", "dbeta", "dalpha", "dstate"})
        self.assertEqual(wrong(dalpha=0 * right["dalpha"]), {"dalpha"})
        self.assertNotIn("dq", wrong(**gated_delta_gradient(x, do)))  # a kernel that ignores dstate
        last = right["dbeta"].copy()
        last[0, 1, 17] *= 1.01
        self.assertEqual(wrong(dbeta=last), {"dbeta"})
        half = {name: array.astype(np.float16).astype(float) for name, array in right.items()}
        self.check("gated_delta_net", half, "--grad", "--dtype", "f16")
        self.check("gated_delta_net", half, "--grad", status=1)

    def test_a_backward_pass_alone_is_checked(self):
        """Gradients without o: a backward kernel has no outputs of its own."""
        x = self.sample("gated_delta_net", "--grad", shape="1,2,40,8,6")
        right = gated_delta_gradient(x, x["do"], x["dstate"])
        found = self.check("gated_delta_net", right, "--grad", "--dtype", "f64")
        self.assertEqual((found["verdict"], found["not_checked"]), ("right", ["o", "state"]))
        found = self.check("gated_delta_net", {"dk": -right["dk"]}, "--grad", "--dtype", "f64", status=1)
        self.assertEqual(found["parts"]["dk"]["verdict"], "WRONG")
        self.assertEqual([name for name, part in found["parts"].items() if part.get("checked", True)], ["dk"])

    def test_weights_that_are_not_there_are_refused(self):
        x = self.sample("gated_delta_net", shape="1,2,10,8,6")
        np.savez(self.path("out.npz"), **gated_delta(x))
        self.refused("in.npz: dataset do is absent", "check", "gated_delta_net", "-i", self.path("in.npz"), "-c",
                     self.path("out.npz"), "--grad")

    def test_bad_files_are_refused_in_one_line(self):
        self.sample("linear")
        def refused(message, *arguments, status=3):
            self.refused(message, "check", *arguments, status=status)
        np.savez(self.path("small.npz"), o=np.zeros((1, 2, 3, 4)))
        refused("needs [2,2,100,6]", "linear", "-i", self.path("in.npz"), "-c", self.path("small.npz"))
        np.savez(self.path("integers.npz"), o=np.zeros((2, 2, 100, 6), int))
        refused("floating point", "linear", "-i", self.path("in.npz"), "-c", self.path("integers.npz"))
        np.savez(self.path("fortran.npz"), o=np.asfortranarray(np.zeros((2, 2, 100, 6))))
        refused("Fortran order", "linear", "-i", self.path("in.npz"), "-c", self.path("fortran.npz"))
        with open(self.path("junk.npz"), "w") as f:
            f.write("junk")
        refused("not a readable .npz", "linear", "-i", self.path("in.npz"), "-c", self.path("junk.npz"))
        refused("unknown type 'bf17', did you mean 'bf16'?", "linear", "-i", self.path("in.npz"), "-c", self.path("small.npz"),
                "--dtype", "bf17", status=2)
        refused("needs a variant", status=2)
        self.refused("sample needs --shape and --output, or --battery", "sample", "linear", status=2)

    def battery(self, *flags):
        self.run_program("sample", "gated_delta_net", "--battery", self.path("given"), "--dtype", "bf16", *flags)
        os.makedirs(self.path("out"), exist_ok=True)
        cases = {}
        for name in sorted(os.listdir(self.path("given"))):
            with np.load(os.path.join(self.path("given"), name)) as f:
                cases[name] = {key: f[key].astype(np.float64) for key in f}
        return cases

    def test_a_battery_is_a_folder_of_cases_and_a_verdict_each(self):
        cases = self.battery()
        self.assertTrue(22 <= len(cases) <= 26, len(cases))
        for name, x in cases.items():
            self.assertEqual(x["q"].shape[2], int(name[1:].split("-")[0].removesuffix(".npz")))
            self.assertEqual("state" in x, "S0" in name)
            np.savez(os.path.join(self.path("out"), name), **gated_delta(x))
        arguments = ["check", "gated_delta_net", "--battery", self.path("given"), "-c", self.path("out"), "--dtype", "bf16",
                     "--json", self.path("c.json"), "--junit", self.path("j.xml")]
        said = self.run_program(*arguments)
        self.assertTrue(said.endswith(f"{len(cases)} passed, 0 failed\n"), said)
        ignored = {name for name, x in cases.items() if "state" in x}
        for name in ignored:
            np.savez(os.path.join(self.path("out"), name), **gated_delta(cases[name], state=False))
        missing = next(name for name in cases if name not in ignored)
        os.rename(os.path.join(self.path("out"), missing), os.path.join(self.path("out"), "other.npz"))
        said = self.run_program(*arguments, status=1)
        self.assertIn(f"missing in {self.path('out')}: {missing}\n", said)
        self.assertIn(f"not in {self.path('given')}: other.npz\n", said)
        with open(self.path("c.json")) as f:
            found = json.load(f)
        self.assertEqual((found["missing"], found["extra"]), ([missing], ["other.npz"]))
        wrong = {case["case"] + ".npz" for case in found["cases"] if case["verdict"] == "WRONG"}
        self.assertEqual(wrong, ignored)
        self.assertEqual(found["failed"], len(ignored) + 2)
        with open(self.path("j.xml")) as f:
            self.assertEqual(f.read().count("<testcase"), len(cases) + 1)
        self.refused("other.npz does not belong to this battery", "sample", "gated_delta_net", "--battery", self.path("out"))

    def test_a_battery_with_gradients(self):
        for name, x in self.battery("--grad").items():
            self.assertEqual(x["do"].shape, x["v"].shape)
            right = {**gated_delta(x), **gated_delta_gradient(x, x["do"], x["dstate"])}
            np.savez(os.path.join(self.path("out"), name), **right)
        arguments = ["check", "gated_delta_net", "--battery", self.path("given"), "-c", self.path("out"), "--grad"]
        done = subprocess.run([PROGRAM, *arguments, "--dtype", "bf16"], capture_output=True, text=True)
        # gradients may be smaller than the noise
        passed = re.search(r"^(\d+) passed, 0 failed(, [12] could not be decided)?$", done.stdout, re.M)
        self.assertTrue(passed, done.stdout + done.stderr)
        self.assertGreaterEqual(int(passed[1]), 20)
        self.assertEqual(done.returncode, 1 if passed[2] else 0)

    def test_naming_a_mistake_takes_a_bounded_time(self):
        """CPU time relative to a verdict on a correct kernel: up to 7 times where it was measured."""
        x = self.sample("gated_delta_net", "--grad", "--dtype", "bf16", shape="1,2,500,48,32")
        def computed(**other):
            np.savez(self.path("g.npz"), **{**x, **other})
            self.run_program("forward", "gated_delta_net", "-i", self.path("g.npz"), "-o", self.path("f.npz"), "--gradient")
            with np.load(self.path("f.npz")) as f:
                return {name: f[name] for name in f}
        def seconds(arrays, status):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            said = self.check("gated_delta_net", arrays, "--grad", "--dtype", "bf16", status=status)["diagnosis"]
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, said
        right = computed()
        verdict, _ = seconds(right, 0)
        for wrong, name in ((computed(beta=x["beta"] ** 2), "beta_applied_twice"), ({**right, "dk": -right["dk"]}, "gradient_sign"),
                            ({**computed(q=8 * x["q"]), "dv": right["dv"][:, :, ::-1]}, "")):
            took, said = seconds(wrong, 1)
            self.assertIn(name, "; ".join(said))
            self.assertLess(took, 12 * verdict + 1)

    def test_every_form_checks_itself(self):
        said = self.run_program("check", "--self", "gated_delta_net", "--quick", "--junit", self.path("j.xml"), "--record",
                                self.path("r.csv"))
        self.assertRegex(said, r"^\d passed, 0 failed\n$")
        with open(self.path("j.xml")) as f:
            self.assertRegex(f.read(), r'name="gated_delta_net/chunked/T65[\w-]*/f32"')
        with open(self.path("r.csv")) as f:
            lines = f.read().splitlines()
        self.assertEqual(lines[0], "layer,form,type,math,case,part,row,head,row_limit,head_limit,verdict")
        self.assertEqual({line.split(",")[5] for line in lines[1:]},
                         {"o", "state", "dq", "dk", "dv", "dbeta", "dalpha", "dstate"})

    def test_every_form_checks_itself_on_arrays_of_16_bits(self):
        self.assertRegex(self.run_program("check", "--self", "delta_net", "--quick", "--dtype", "bf16", "--record", self.path("r.csv")),
                         r"^\d passed, 0 failed\n$")
        with open(self.path("r.csv")) as f:
            self.assertEqual({tuple(line.split(",")[1:3]) for line in f.read().splitlines()[1:]},
                             {("recurrent", "bf16"), ("chunked", "bf16")})
        for wrong, said in (("tf32", "--self stores arrays in f32, f64, f16 or bf16, got --dtype tf32: --math tf32 rounds products"),
                            ("bf17", "--self stores arrays in f32, f64, f16 or bf16, got --dtype bf17")):
            done = subprocess.run([PROGRAM, "check", "--self", "delta_net", "--dtype", wrong], capture_output=True, text=True)
            self.assertEqual(done.returncode, 2)
            self.assertIn(said, done.stderr)


if __name__ == "__main__":
    unittest.main()
