# SPDX-License-Identifier: Apache-2.0
"""`recollect forward` on tensors written by another program, compared with NumPy; and everything that it must
refuse."""
import json
import os
import resource
import subprocess
import tempfile
import unittest

import h5py
import numpy as np

PROGRAM = os.environ["RECOLLECT_PROGRAM"]
B, H, T, DK, DV = 2, 3, 20, 5, 4


def tensors(seed=0, dtype=np.float64):
    r = np.random.default_rng(seed)
    unit = lambda x: x / np.linalg.norm(x, axis=-1, keepdims=True)
    return {
        "q": r.normal(size=(B, H, T, DK)).astype(dtype),
        "k": unit(r.normal(size=(B, H, T, DK))).astype(dtype),
        "v": r.normal(size=(B, H, T, DV)).astype(dtype),
        "beta": r.uniform(0.2, 1, size=(B, H, T)).astype(dtype),
        "alpha": r.uniform(0.8, 1, size=(B, H, T)).astype(dtype),
        "lambda": r.uniform(0.8, 1, size=(B, H, T, DK)).astype(dtype),
    }


class Forward(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.input = os.path.join(self.folder.name, "in.h5")
        self.output = os.path.join(self.folder.name, "out.h5")

    def write(self, data):
        with h5py.File(self.input, "w") as f:
            for name, values in data.items():
                f[name] = values

    def run_forward(self, variant, *flags):
        command = [PROGRAM, "forward", variant, "--input", self.input, "--output", self.output, *flags]
        return subprocess.run(command, capture_output=True, text=True)

    def result(self, variant, *flags):
        done = self.run_forward(variant, *flags)
        self.assertEqual(done.returncode, 0, done.stderr)
        with h5py.File(self.output) as f:
            return f["o"][:], f["state"][:] if "state" in f else None

    def refused(self, variant, message, *flags, status=3):
        done = self.run_forward(variant, *flags)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertIn(message, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1)
        self.assertEqual(os.listdir(self.folder.name), [os.path.basename(self.input)] if os.path.exists(self.input) else [])

    def test_memory_is_touched_a_few_times_only(self):
        """A page that is touched for the first time is a fault of the processor: copies of long sequences took three quarters of
        the time."""
        with h5py.File(self.input, "w") as f:
            for name in "qkv":
                f[name] = np.random.default_rng(1).normal(size=(1, 1, 70000, 64))
        faults = lambda: resource.getrusage(resource.RUSAGE_CHILDREN).ru_minflt
        before = faults()
        self.assertEqual(self.run_forward("linear", "--form", "chunked").returncode, 0)
        long, before = faults() - before, faults()
        with h5py.File(self.input, "w") as f:
            for name in "qkv":
                f[name] = np.ones((1, 1, 1, 64))
        self.assertEqual(self.run_forward("linear", "--form", "chunked").returncode, 0)
        touched = (long - (faults() - before)) * resource.getpagesize() / (3 * 70000 * 64 * 8)
        self.assertGreater(touched, 2)
        self.assertLess(touched, 14)

    def reference(self, d, erase, alpha=None, state=None):
        """S_t = alpha S (I - erase_t k k^T) + write_t v k^T as einsums, o_t = S_t q_t."""
        S = np.zeros((B, H, DV, DK)) if state is None else state.copy()
        o = np.empty((B, H, T, DV))
        for t in range(T):
            k, v, q = d["k"][:, :, t], d["v"][:, :, t], d["q"][:, :, t]
            if alpha is not None:
                S = S * alpha[:, :, t, None, None]
            b = erase[:, :, t, None, None]
            read = np.einsum("bhij,bhj->bhi", S, k)
            S = S + b * np.einsum("bhi,bhj->bhij", v - read, k)
            o[:, :, t] = np.einsum("bhij,bhj->bhi", S, q)
        return o, S

    def test_linear_in_both_forms_and_types(self):
        d = tensors()
        self.write(d)
        weights = np.tril(np.einsum("bhtd,bhid->bhti", d["q"], d["k"]))
        expected = weights @ d["v"]
        for form in "recurrent", "chunked":
            for dtype, bound in ("f64", 1e-13), ("f32", 1e-4):
                o, state = self.result("linear", "--form", form, "--chunk", "7", "--dtype", dtype)
                self.assertEqual(o.dtype, np.float64 if dtype == "f64" else np.float32)
                np.testing.assert_allclose(o, expected, atol=bound)
                np.testing.assert_allclose(state, np.einsum("bhti,bhtj->bhij", d["v"], d["k"]), atol=bound)

    def test_arrays_of_16_bits_are_rounded_once_and_states_stay_float32(self):
        d = {name: (array.astype(np.float32).view(np.uint32) & 0xffff0000).view(np.float32) for name, array in tensors().items()}
        self.write(d)  # numbers of bfloat16
        wide, state = self.result("gated_delta_net", "--form", "chunked", "--dtype", "f32")
        o, final = self.result("gated_delta_net", "--form", "chunked", "--dtype", "bf16")
        self.assertEqual(o.dtype, np.float32)
        self.assertFalse((o.view(np.uint32) & 0xffff).any())
        self.assertTrue((np.abs(o - wide) <= 2.0**-8 * np.abs(wide)).all() and (o != wide).any())
        np.testing.assert_array_equal(final, state)
        half = self.result("gated_delta_net", "--form", "chunked", "--dtype", "f16")[0]
        np.testing.assert_array_equal(half, wide.astype(np.float16))
        self.output = os.path.join(self.folder.name, "out.safetensors")
        self.assertEqual(self.run_forward("gated_delta_net", "--form", "chunked", "--dtype", "bf16").returncode, 0)
        with open(self.output, "rb") as f:
            header = json.loads(f.read(int.from_bytes(f.read(8), "little")))
        self.assertEqual((header["o"]["dtype"], header["state"]["dtype"]), ("BF16", "F32"))

    def test_what_16_bits_do_not_go_with_is_refused(self):
        d = tensors()
        d["v"][0, 0, 0, 0] = 70000
        self.write(d)
        self.refused("linear", "v has 70000 at flat index 0, too large for float16, whose largest number is 65504", "--dtype", "f16")
        self.refused("linear", "--math tf32 rounds products of float32 arrays, but --dtype bf16 stores them in 16 bits", "--dtype",
                     "bf16", "--math", "tf32", status=2)
        self.refused("linear", "a sequence that ranks share is stored in f32 or f64, not in bf16", "--dtype", "bf16", "--ranks-along",
                     "T", status=2)

    def test_delta_rules(self):
        d = tensors(1)
        self.write(d)
        for variant, alpha in ("delta_net", None), ("gated_delta_net", d["alpha"]):
            o, S = self.reference(d, d["beta"], alpha)
            for form in "recurrent", "chunked":
                measured, state = self.result(variant, "--form", form, "--chunk", "8")
                np.testing.assert_allclose(measured, o, atol=1e-12)
                np.testing.assert_allclose(state, S, atol=1e-12)

    def test_state_is_handed_over(self):
        d = tensors(2)
        d["state"] = np.random.default_rng(3).normal(size=(B, H, DV, DK))
        self.write(d)
        o, S = self.reference(d, d["beta"], state=d["state"])
        measured, state = self.result("delta_net")
        np.testing.assert_allclose(measured, o, atol=1e-12)
        np.testing.assert_allclose(state, S, atol=1e-12)

    def test_softmax_scale_defaults_to_one_over_root_width(self):
        d = tensors(4)
        self.write(d)
        scores = np.einsum("bhtd,bhid->bhti", d["q"], d["k"])
        for flags, scale in ((), DK**-0.5), (("--set", "scale=1"), 1):
            z = np.where(np.tril(np.ones((T, T), bool)), scores * scale, -np.inf)
            p = np.exp(z - z.max(-1, keepdims=True))
            expected = p / p.sum(-1, keepdims=True) @ d["v"]
            for form in "recurrent", "parallel":
                o, state = self.result("softmax", "--form", form, *flags)
                np.testing.assert_allclose(o, expected, atol=1e-13)
                self.assertIsNone(state)

    def test_half_precision_files_are_read(self):
        d = tensors(5, np.float16)
        self.write(d)
        o, _ = self.result("linear")
        weights = np.tril(np.einsum("bhtd,bhid->bhti", d["q"].astype(float), d["k"].astype(float)))
        np.testing.assert_allclose(o, weights @ d["v"].astype(float), atol=1e-12)

    def test_absent_datasets(self):
        for name in "q", "k", "v":
            d = tensors()
            del d[name]
            self.write(d)
            self.refused("linear", f"dataset {name} is absent")
        d = tensors()
        del d["beta"]
        self.write(d)
        self.refused("delta_net", "beta is absent")
        d = tensors()
        del d["alpha"], d["lambda"]
        self.write(d)
        self.refused("gated_linear", "gated_linear needs alpha or lambda")

    def test_wrong_shapes(self):
        d = tensors()
        self.write({**d, "k": d["k"][..., :3]})
        self.refused("linear", f"dataset k has shape [{B},{H},{T},3], needs [{B},{H},{T},{DK}]")
        self.write({**d, "q": d["q"][0]})
        self.refused("linear", f"dataset q has shape [{H},{T},{DK}], needs [B,H,T,Dk]")
        self.write({**d, "beta": d["beta"][..., None]})
        self.refused("delta_net", "dataset beta has shape")
        self.write({**d, "state": np.zeros((B, H, DK, DK))})
        self.refused("delta_net", "state has")
        self.write({**d, "v": np.zeros((B, H, 0, DV))})
        self.refused("linear", "every size at least 1")

    def test_wrong_types_and_values(self):
        d = tensors()
        self.write({**d, "v": d["v"].astype(np.int64)})
        self.refused("linear", "dataset v is of an integer type")
        for bad in np.nan, np.inf:
            k = d["k"].copy()
            k[1, 2, 3, 4] = bad
            self.write({**d, "k": k})
            self.refused("linear", "k has a non-finite value")
        self.write({**d, "alpha": d["alpha"] + 1})
        self.refused("gated_delta_net", "decay factors")

    def test_every_layer_runs_on_the_inputs_that_it_lists(self):
        listing = subprocess.run([PROGRAM, "list", "variants", "--json"], capture_output=True, text=True, check=True).stdout
        d = tensors()
        d["w"] = d["k"][:, :, ::-1]
        for variant in json.loads(listing):
            required = [i["name"] for i in variant["inputs"] if i["required"]] + variant["needs_one_of"][:1]
            described = subprocess.run([PROGRAM, "list", "variants", variant["name"]], capture_output=True, text=True, check=True).stdout
            for name in [i["name"] for i in variant["inputs"]] + [p["name"] for p in variant["parameters"]]:
                self.assertRegex(described, rf"(?m)^  {name} .*\S")
            for form in variant["forms"]:
                with self.subTest(variant=variant["name"], form=form["name"]):
                    self.write({name: d[name] for name in ["q", "k", "v", *required]})
                    o, state = self.result(variant["name"], "--form", form["name"], "--chunk", "7")
                    self.assertEqual(o.shape, (B, H, T, DV))
                    self.assertTrue(np.isfinite(o).all())
                    self.assertEqual(state is not None, variant["state"]["rows"] > 0)
            for missing in [i["name"] for i in variant["inputs"] if i["required"]]:
                os.remove(self.output)
                self.write({name: d[name] for name in ["q", "k", "v", *required] if name != missing})
                self.refused(variant["name"], f"{missing} is absent")
                self.write({name: d[name] for name in ["q", "k", "v", *required]})
                self.result(variant["name"])

    def gradient(self, variant, data, *flags):
        self.write(data)
        done = self.run_forward(variant, "--gradient", *flags)
        self.assertEqual(done.returncode, 0, done.stderr)
        with h5py.File(self.output) as f:
            return {name: f[name][:] for name in f if name != "meta"}

    def test_gradient_of_linear_attention_by_hand(self):
        # o_1 = q_1 (k_1 v_1), o_2 = q_2 (k_1 v_1 + k_2 v_2), S = k_1 v_1 + k_2 v_2, weighted by 1, 10 and 100
        column = lambda *x: np.array(x, float).reshape(1, 1, -1, 1)
        data = {"q": column(2, 3), "k": column(5, 7), "v": column(11, 13), "do": column(1, 10)}
        found = self.gradient("linear", data)
        self.assertEqual(set(found), {"o", "state", "dq", "dk", "dv", "dstate"})
        np.testing.assert_array_equal(found["dq"].ravel(), [55, 1460])
        np.testing.assert_array_equal(found["dk"].ravel(), [2 * 11 + 30 * 11, 30 * 13])
        np.testing.assert_array_equal(found["dv"].ravel(), [2 * 5 + 30 * 5, 30 * 7])
        np.testing.assert_array_equal(found["dstate"].ravel(), [2 + 30])
        found = self.gradient("linear", {**data, "dstate": np.full((1, 1, 1, 1), 100.0)})
        np.testing.assert_array_equal(found["dk"].ravel(), [(2 + 30 + 100) * 11, (30 + 100) * 13])

    def test_gradients_against_central_differences(self):
        # h = 1e-5: the difference has an error of h^2 |third derivative| ~ 1e-10 plus eps |sum of 120 terms| / h ~ 1e-9
        h, r = 1e-5, np.random.default_rng(7)
        for variant, inputs in ("gated_delta_net", "q k v beta alpha state"), ("gla", "q k v lambda state"), \
                ("delta_former", "q k v beta w"), ("softmax", "q k v"):
            d = {name: array[:1, :1, :9] for name, array in tensors(6).items()}
            d["w"] = d["k"][:, :, ::-1].copy()
            d["state"] = r.normal(size=(1, 1, DV, DK))
            d = {name: d[name] for name in inputs.split()}
            weights = {"do": r.normal(size=(1, 1, 9, DV))}
            if "state" in d:
                weights["dstate"] = r.normal(size=(1, 1, DV, DK))
            found = self.gradient(variant, {**d, **weights})
            self.assertEqual(set(found) - {"o", "state"}, {"d" + name for name in d})
            for name in d:
                direction, sums = r.normal(size=d[name].shape), []
                for sign in 1, -1:
                    self.write({**d, name: d[name] + sign * h * direction})
                    o, state = self.result(variant, "--form", "recurrent")
                    sums.append((weights["do"] * o).sum() + ((weights["dstate"] * state).sum() if "state" in d else 0))
                with self.subTest(variant=variant, input=name):
                    slope = (found["d" + name] * direction).sum()
                    self.assertLess(abs(slope - (sums[0] - sums[1]) / (2 * h)), 1e-7)
                    self.assertGreater(abs(slope), 1e-3)

    def test_gradients_pass_a_cut_by_dstate(self):
        d, r = tensors(8), np.random.default_rng(9)
        d = {name: d[name] for name in ("q", "k", "v", "beta", "alpha")}
        d["do"], last = r.normal(size=(B, H, T, DV)), r.normal(size=(B, H, DV, DK))
        whole = self.gradient("gated_delta_net", {**d, "dstate": last})
        cut = lambda part: {name: array[:, :, part] for name, array in d.items()}
        first, rest = cut(slice(None, 8)), cut(slice(8, None))
        middle = self.gradient("gated_delta_net", first)["state"]
        late = self.gradient("gated_delta_net", {**rest, "state": middle, "dstate": last})
        early = self.gradient("gated_delta_net", {**first, "dstate": late["dstate"]})
        for name in "dq", "dk", "dv", "dbeta", "dalpha":
            np.testing.assert_allclose(np.concatenate([early[name], late[name]], 2), whole[name], atol=1e-12)
        np.testing.assert_allclose(early["dstate"], whole["dstate"], atol=1e-12)

    def test_gradients_follow_the_files_conventions(self):
        d = tensors(10)
        d = {name: d[name] for name in ("q", "k", "v", "beta", "alpha")}
        d["do"] = np.random.default_rng(11).normal(size=(B, H, T, DV))
        plain = self.gradient("gated_delta_net", d)
        other = {name: array.swapaxes(1, 2) for name, array in {**d, "alpha": np.log(d["alpha"])}.items()}
        found = self.gradient("gated_delta_net", other, "--layout", "bthd", "--gate", "log", "--dtype", "f32")
        for name in "dq", "dk", "dv", "dbeta":
            self.assertEqual(found[name].dtype, np.float32)
            np.testing.assert_allclose(found[name].swapaxes(1, 2), plain[name], rtol=1e-6, atol=1e-5)
        np.testing.assert_allclose(found["dalpha"].swapaxes(1, 2), plain["dalpha"] * d["alpha"], rtol=1e-6, atol=1e-5)

    def test_approximations_are_run_by_name_alone(self):
        """Unless a form is named, `sample`, `forward` and `check` of a layer use the same form, and gradients are of
        the form that ran."""
        sample = os.path.join(self.folder.name, "sample.h5")
        program = lambda *words: subprocess.run([PROGRAM, *words], capture_output=True, text=True)
        for layer in "ttt_linear", "ttt_mlp", "titans":
            done = program("sample", layer, "-o", sample, "--shape", "1,1,40,6,4")
            self.assertEqual(done.returncode, 0, done.stderr)
            done = program("forward", layer, "-i", sample, "-o", self.output, "--dtype", "f32")
            self.assertEqual(done.returncode, 0, done.stderr)
            done = program("check", layer, "-i", sample, "-c", self.output)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            os.remove(self.output)
            os.remove(sample)
        d = tensors(12)
        d = {name: d[name] for name in ("q", "k", "v", "beta")}
        d["do"] = np.random.default_rng(13).normal(size=(B, H, T, DV))
        self.gradient("ttt_linear", d)
        os.remove(self.output)
        self.refused("ttt_linear", "form 'minibatch' of ttt_linear approximates it and has no backward pass",
                     "--form", "minibatch", "--gradient", status=2)

    def test_weights_that_are_refused(self):
        d = tensors()
        self.write(d)
        self.refused("linear", "dataset do is absent", "--gradient")
        self.write({**d, "do": np.zeros((B, H, T, DK))})
        self.refused("linear", f"dataset do has shape [{B},{H},{T},{DK}], needs [{B},{H},{T},{DV}]", "--gradient")
        do = np.zeros((B, H, T, DV))
        do[1, 0, 3, 2] = np.nan
        self.write({**d, "do": do})
        self.refused("linear", f"{self.input}: do has a non-finite value at flat index", "--gradient")
        do = np.zeros((B, H, T, DV))
        self.write({**d, "do": do, "dstate": np.zeros((B, H, DK, DK))})
        self.refused("linear", "dataset dstate has shape", "--gradient")
        self.write({**d, "do": do, "dstate": np.zeros((B, H, DV, DK))})
        self.refused("softmax", "dataset dstate is given, but softmax has no finite state", "--gradient")

    def test_damaged_files_and_bad_flags(self):
        with open(self.input, "w") as f:
            f.write("not HDF5")
        self.refused("linear", "is not a readable HDF5 file")
        self.write(tensors())
        with open(self.input, "r+b") as f:
            f.truncate(2000)
        self.refused("linear", "HDF5")
        self.write(tensors())
        self.refused("linaer", "did you mean 'linear'?", status=2)
        self.refused("linear", "it has recurrent, chunked", "--form", "parallel", status=2)
        self.refused("linear", "linear has no parameter 'sclae'", "--set", "sclae=2", status=2)


if __name__ == "__main__":
    unittest.main()
