# SPDX-License-Identifier: Apache-2.0
"""The peers of `bench --peers` compute the same as recollect: same tensors, same outputs. Needs PyTorch."""
import json
import os
import subprocess
import sys
import tempfile
import time
import types
import unittest
import unittest.mock

import numpy as np

try:
    import torch
except ImportError:
    torch = None

PROGRAM = os.environ["RECOLLECT_PROGRAM"]
BENCH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench")
sys.path.insert(0, BENCH)
if torch:
    import library_peers
    import peers
    import stopwatches
    import torch_peers


def tensors_of_a_layer(shape=(2, 2, 37, 8, 6)):
    draw, (B, H, T, Dk, Dv) = np.random.default_rng(1), shape
    unit = lambda x: x / np.linalg.norm(x, axis=-1, keepdims=True)
    return {"q": unit(draw.normal(size=(B, H, T, Dk))), "k": unit(draw.normal(size=(B, H, T, Dk))),
            "v": draw.normal(size=(B, H, T, Dv)), "beta": draw.uniform(0.2, 1, (B, H, T)),
            "alpha": draw.uniform(0.8, 1, (B, H, T)), "lambda": draw.uniform(0.8, 1, (B, H, T, Dk)),
            "w": unit(draw.normal(size=(B, H, T, Dk)))}


def ours(tensors, variant, *flags, form="recurrent"):
    """The output of `forward` for these tensors: {name: array}."""
    with tempfile.TemporaryDirectory() as folder:
        source, out = os.path.join(folder, "in.npz"), os.path.join(folder, "out.npz")
        np.savez(source, **tensors)
        done = subprocess.run([PROGRAM, "forward", variant, "-i", source, "-o", out, "--form", form, *flags],
                              capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        with np.load(out) as found:
            return dict(found)


def on_device(tensors):
    return {name: torch.from_numpy(values).to(peers.DEVICE) for name, values in tensors.items()}


def case(variant="linear", form="chunked", **others):
    """The program's request for a case, without the tensors."""
    return {**dict(ask="case", variant=variant, form=form, real="f32", math="exact", chunk=16, parameters={}, backward=False,
                   given=[], shape=[1, 2, 24, 4, 4], starts=[], qk_heads=2, expected_steps=0), **others}


@unittest.skipIf(torch is None, "PyTorch is not installed")
class Peers(unittest.TestCase):
    def test_every_peer_is_the_layer_it_is_timed_against(self):
        tensors = tensors_of_a_layer()
        del tensors["lambda"]  # PyTorch's gated_linear has one gate a step
        x = on_device(tensors)
        for (variant, form), peer in torch_peers.TORCH.items():
            expected, found = ours(tensors, variant)["o"], peer(x, 16).cpu().numpy()
            self.assertLess(np.abs(found - expected).max(), 1e-10 * (1 + np.abs(expected).max()), (variant, form))

    def test_peers_in_bfloat16_are_their_layers_as_far_as_it_rounds(self):
        tensors = tensors_of_a_layer((1, 2, 100, 16, 12))
        del tensors["lambda"]
        x = peers.stored_in("bf16", {name: t.float() for name, t in on_device(tensors).items()})
        for variant, form in torch_peers.TORCH:
            found = peers.peers_of(case(variant, form, math="bf16"))
            if form == "recurrent":  # loops are not timed in this type
                self.assertEqual(found, [], (variant, form))
            for peer in found:
                self.assertEqual(peer.storage, "bf16")
                expected = ours(tensors, variant)["o"]
                o = peers.autocast("bf16", peer.function)(x).double().cpu().numpy()
                error = np.linalg.norm(o - expected) / np.linalg.norm(expected)
                self.assertTrue(2**-14 < error < 2**-6, (variant, form, error))  # it rounds by up to 2^-9

    def test_parameters_of_a_peer_are_those_of_its_layer(self):
        tensors = tensors_of_a_layer()
        x = on_device(tensors)
        for kappa1 in ("linear", "softmax"):
            for kappa2 in ("linear", "softmax"):
                given = dict(kappa1=kappa1, kappa2=kappa2, scale=0.7, tau=0.3)
                expected = ours(tensors, "delta_former", *(f"--set={name}={value}" for name, value in given.items()))["o"]
                for form in ("recurrent", "chunked"):
                    found = torch_peers.TORCH["delta_former", form](x, 16, **given).cpu().numpy()
                    self.assertLess(np.abs(found - expected).max(), 1e-10 * (1 + np.abs(expected).max()), (form, given))

    def test_a_backward_pass_timed_is_that_of_the_layer(self):
        tensors = tensors_of_a_layer()
        del tensors["lambda"]
        x = on_device(tensors)
        d_o = np.random.default_rng(2).normal(size=tensors["v"].shape)
        for (variant, form), peer in torch_peers.TORCH.items():
            found = peers.backward_of(lambda given: peer(given, 16), x, torch.from_numpy(d_o).to(peers.DEVICE))()
            expected = {name[1:]: values for name, values in ours({**tensors, "do": d_o}, variant, "--gradient").items()
                        if name[1:] in x}
            self.assertLessEqual({"q", "k", "v"}, expected.keys())
            for name, values in expected.items():
                error = np.abs(found[name].cpu().numpy() - values).max()
                self.assertLess(error, 1e-9 * (1 + np.abs(values).max()), (variant, form, name))

    def test_storage_is_the_cases_and_a_gpus_peers_are_kernels(self):
        sources = lambda **asked: [(p.source, p.storage) for p in peers.peers_of(case(**asked))]  # noqa: E731
        with unittest.mock.patch.object(peers, "DEVICE", "cuda"):
            self.assertEqual(sources(variant="linear"), [("fla", "f32")])
            self.assertEqual(sources(variant="mamba2", math="bf16"), [("fla", "bf16"), ("mamba_ssm", "bf16")])
            for stored in "bf16", "f16":
                self.assertEqual(sources(variant="mamba2", real=stored), [("fla", stored), ("mamba_ssm", stored)])
            self.assertEqual(sources(variant="gated_delta_net"), [("fla", "f32"), ("flashinfer", "f32")])
            self.assertEqual([s for s, _ in sources(variant="softmax", form="parallel")],
                             ["fla", "torch-flash", "torch-efficient", "torch-cudnn", "torch-math"])
            self.assertEqual(sources(variant="linear", real="f64"), [])
            self.assertEqual(sources(variant="linear", parameters={"scale": 2}), [])
            self.assertEqual(sources(variant="linear", form="recurrent"), [("torch", "f32")])
            for packed in dict(starts=[0, 20, 24]), dict(qk_heads=1):
                for variant in library_peers.PACKED:
                    self.assertEqual(sources(variant=variant, **packed), [("fla", "f32")])
                self.assertEqual(sources(variant="softmax", form="parallel", **packed), [])
                self.assertEqual(sources(variant="linear", form="recurrent", **packed), [])
        with unittest.mock.patch.object(peers, "DEVICE", "cpu"):
            self.assertEqual(sources(variant="linear"), [("torch", "f32")])
            self.assertEqual(sources(variant="linear", real="f64"), [("torch", "f64")])
            self.assertEqual(sources(variant="linear", real="bf16"), [("torch", "bf16")])
            self.assertEqual(sources(variant="linear", form="recurrent", real="bf16"), [])
            self.assertEqual(sources(variant="linear", real="f16"), [])  # PyTorch only autocasts to bfloat16 on a CPU
            self.assertEqual(sources(variant="gated_linear", given=["lambda"]), [])  # it has one gate a step
            self.assertEqual(sources(variant="linear", starts=[0, 20, 24]), [])

    def test_only_failures_that_may_leave_the_gpu_unusable_are_failures(self):
        said = {"out of resource: shared memory, Required: 262144": "skipped", "CUDA error: an illegal memory access": "failed"}
        for message, status in said.items():
            with unittest.mock.patch.object(peers.Session, "ask_take", side_effect=RuntimeError(message)):
                self.assertEqual(peers.Session().answer({"ask": "take"}), dict(status=status, reason=message))

    def test_one_step_is_asked_of_the_kernels_for_decoding(self):
        self.assertEqual(library_peers.fla_form("linear", 1), "fused_recurrent")
        self.assertEqual(library_peers.fla_form("linear", 4096), "chunk")
        self.assertEqual(library_peers.fla_form("softmax", 4096), "parallel")


def level_of(t, i):
    """The level of a Fenwick tree that holds step i when step t is read; steps count from 0."""
    level = 0
    while i < t:
        level, t = level + 1, t if not t >> level & 1 else t - (1 << level)
    return level


def gdn2(q, k, v, g, b, w, scale, initial_state, output_final_state):
    S, out = initial_state, []
    for t in range(q.shape[1]):
        S = S * g[:, t].exp()[..., None]
        error = w[:, t] * v[:, t] - torch.einsum("bhk,bhkv->bhv", b[:, t] * k[:, t], S)
        S = S + k[:, t, ..., None] * error[..., None, :]
        out.append(scale * torch.einsum("bhk,bhkv->bhv", q[:, t], S))
    return torch.stack(out, 1), S


def preconditioned(q, k, v, g_atk, g, beta_atk, beta, scale, initial_state, initial_A_state, output_final_state,
                   use_qk_l2norm_in_kernel, x, eps, log_atk_scale):
    S, A, out = initial_state, initial_A_state, []
    for t in range(q.shape[1]):
        A = A * g_atk[:, t].exp()[..., None] + beta_atk[:, t, ..., None] * k[:, t] ** 2
        r = (A + eps).log() - log_atk_scale[:, None]
        S = S * g[:, t].exp()[..., None, None]
        error = beta[:, t, ..., None] * (v[:, t] - torch.einsum("bhk,bhkv->bhv", k[:, t], S))
        S = S + (k[:, t] * x ** (-r / (1 + r.abs())))[..., None] * error[..., None, :]
        out.append(scale * torch.einsum("bhk,bhkv->bhv", q[:, t], S))
    assert not use_qk_l2norm_in_kernel
    return torch.stack(out, 1), S, A


def log_linear(q, k, v, g, level_scales):
    assert q.shape[2] == 1 and level_scales.shape[-1] >= 7  # a text per head; all levels of a chunk
    out, run = torch.zeros_like(v), g.cumsum(1)
    for t in range(q.shape[1]):
        for i in range(t + 1):
            weight = level_scales[:, t, :, level_of(t, i)] * (run[:, t] - run[:, i]).exp() * (q[:, t] * k[:, i]).sum(-1)
            out[:, t] += weight[..., None] * v[:, i]
    return out, None


def bounded_memory(q, k, v, s, output_final_state):
    """fla's chunks have 64 steps. A kernel reads z at the last step of a chunk, and 0 behind the end of the sequence; its state is
    divided by e^z."""
    share = s.exp() / s.exp().cumsum(1)  # of the new step in its slot
    keys, values, out = 0, 0, []
    for t in range(q.shape[1]):
        new, keep = share[:, t], 1 - share[:, t]
        keys = keys * keep[..., None, :] + k[:, t, ..., None] * new[..., None, :]
        values = values * keep[..., None] + new[..., None] * v[:, t, ..., None, :]
        read = torch.softmax(k.shape[-1] ** -0.5 * torch.einsum("bhk,bhkm->bhm", q[:, t], keys), -1)
        out.append(torch.einsum("bhm,bhmv->bhv", read, values))
    if q.shape[1] % 64:
        sums = s.exp().sum(1)
        keys, values = keys * sums[..., None, :], values * sums[..., None]
    return torch.stack(out, 1), (keys, values)


@unittest.skipIf(torch is None, "PyTorch is not installed")
class Adapters(unittest.TestCase):
    """A kernel as fla documents it, called through the layer's adapter, computes the layer."""

    def compare(self, variant, kernel, left_out=(), state=None, T=11):
        shape = (2, 3, T, 4, 5)
        tensors = {name: array for name, array in tensors_of_a_layer(shape).items() if name not in left_out}
        if state:
            tensors["state"] = np.random.default_rng(2).uniform(0.5, 1, (2, 3, *state))
        wanted = ours({name: tensors[name] for name in tensors}, variant)
        x = library_peers.fla_layers.Inputs(tensors, torch.float32, dict(library_peers.fla_layers.SETTINGS))
        with torch.no_grad():
            o, found = library_peers.fla_layers.KERNELS[variant]["chunk"][0](kernel, x)
        np.testing.assert_allclose(o.transpose(1, 2).cpu().numpy(), wanted["o"], rtol=1e-4, atol=1e-5)
        if found is not None:
            np.testing.assert_allclose(found.transpose(2, 3).cpu().numpy(), wanted["state"], rtol=1e-4, atol=1e-5)

    def test_gated_delta_net2(self):
        self.compare("gated_delta_net2", gdn2, ["alpha"], state=(5, 4))
        self.compare("gated_delta_net2", gdn2, ["alpha", "w"], state=(5, 4))

    def test_preconditioned_delta(self):
        self.compare("preconditioned_delta", preconditioned, ["lambda", "w"], state=(6, 4))

    def test_log_linear_mamba2(self):
        self.compare("log_linear_mamba2", log_linear, ["lambda"])

    def test_abc(self):
        for T in 11, 64, 70:
            self.compare("abc", bounded_memory, ["alpha", "beta", "lambda"], T=T)

    def refusal(self, variant, **arrays):
        x = library_peers.fla_layers.Inputs(arrays, torch.float32, dict(library_peers.fla_layers.SETTINGS))
        with self.assertRaises(NotImplementedError) as refused:
            library_peers.fla_layers.KERNELS[variant]["chunk"][0](None, x)
        return str(refused.exception)

    def test_what_a_kernel_cannot_compute_is_refused(self):
        given = {name: array for name, array in tensors_of_a_layer((1, 1, 3, 4, 4)).items() if name != "alpha"}
        self.assertIn("leave w out", self.refusal("gated_delta_net2", **given))
        with torch.no_grad():
            given["k"][0, 0, 1, 2] = 0
            self.assertIn("the key is 0", self.refusal("gated_delta_net2", **given))
        self.assertIn("leave lambda out", self.refusal("preconditioned_delta", **given))
        self.assertIn("no initial state", self.refusal("abc", **given, state=np.zeros((1, 1, 9, 4))))


def packed_delta(q, k, v, beta, g=None, *, scale, initial_state, output_final_state, cu_seqlens=None):
    """fla's delta rule [B,T,H,D]: a state per text, and heads of v that share a head of q and k."""
    group = v.shape[2] // k.shape[2]
    q, k = (a.repeat_interleave(group, 2) for a in (q, k))
    texts = [(b, 0, q.shape[1]) for b in range(q.shape[0])]
    if cu_seqlens is not None:
        starts = cu_seqlens.tolist()
        texts = [(0, *ends) for ends in zip(starts, starts[1:])]
    o, states = torch.zeros_like(v), initial_state.clone()
    for S, (b, begin, end) in zip(states, texts):
        for t in range(begin, end):
            S *= 1 if g is None else g[b, t].exp()[:, None, None]
            error = beta[b, t, :, None] * (v[b, t] - torch.einsum("hk,hkv->hv", k[b, t], S))
            S += k[b, t, :, :, None] * error[:, None, :]
            o[b, t] = scale * torch.einsum("hk,hkv->hv", q[b, t], S)
    return o, states


@unittest.skipIf(torch is None, "PyTorch is not installed")
class Packed(unittest.TestCase):
    """A peer gets packed texts and grouped heads as `bench` has them, and both sides compute the same."""

    def timed(self, variant, shape, starts, qk_heads):
        """(the output of the peer, the number of heads of q that its kernel got, ours)"""
        tensors = {name: array.astype(np.float32) for name, array in tensors_of_a_layer(shape).items()
                   if name in ("q", "k", "v", "beta") or name == "alpha" and variant == "gated_delta_net"}
        tensors.update({name: tensors[name][:, :qk_heads] for name in "qk"})
        heads = []

        def kernel(q, *args, **options):
            heads.append(q.shape[2])
            return packed_delta(q, *args, **options)

        with tempfile.TemporaryDirectory() as folder:
            for name, array in tensors.items():
                array.tofile(os.path.join(folder, name + ".bin"))
            peer = peers.LibraryPeer("fla", library_peers.fla_layers.KERNELS[variant]["chunk"][0], lambda: kernel, "f32", "")
            with torch.no_grad():
                peer.prepare(case(variant, folder=folder, shape=list(shape), starts=starts, qk_heads=qk_heads, given=list(tensors)))()
                o = peer.output()
        packing = dict(cu_seqlens=np.array(starts)) if starts else {}
        return o.cpu().numpy(), heads[-1], ours({**tensors, **packing}, variant)["o"]

    def test_texts_and_heads_are_those_of_the_case(self):
        for variant, got in ("delta_net", 4), ("gated_delta_net", 2):  # the latter's kernel takes grouped heads
            for shape, starts in ((1, 4, 37, 6, 5), [0, 20, 21, 37]), ((2, 4, 11, 6, 5), []):
                for qk_heads in 2, 4:
                    found, heads, wanted = self.timed(variant, shape, starts, qk_heads)
                    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5, err_msg=f"{variant} {starts} {qk_heads}")
                    self.assertEqual(heads, got if qk_heads == 2 else 4)

    def test_repeated_heads_are_said(self):
        with unittest.mock.patch.object(peers, "DEVICE", "cuda"):
            notes = lambda **asked: [peer.note for peer in peers.peers_of(case(**asked))]  # noqa: E731
            self.assertEqual(notes(variant="mamba2", qk_heads=1), ["fla gets k times beta; fla gets q and k repeated for every head"])
            self.assertEqual(notes(variant="gated_delta_net", qk_heads=1), [""])
            self.assertEqual(notes(variant="linear", starts=[0, 24]), [""])

    def test_a_backward_pass_that_fla_refuses_is_skipped_before_anything_is_compiled(self):
        def refuses(q, k, v, do, h, dh, w=None, g=None):
            if g is not None:
                raise RuntimeError("Triton produces incorrect results (see #640)")

        def accepts(q, k, v, do, h, dh, w=None, g=None):
            return k.shape

        module = "fla.ops.common.chunk_o"
        for kernel, refused in (refuses, True), (accepts, False):
            fake = types.SimpleNamespace(chunk_bwd_dqkwg=kernel)
            with unittest.mock.patch.dict(sys.modules, {"fla": fake, "fla.ops": fake, "fla.ops.common": fake, module: fake}):
                for variant in "mamba2", "linear":
                    peer = peers.LibraryPeer("fla", None, None, "f32", "")
                    asked = case(variant, backward=True, folder="nowhere", given=["q"])
                    with self.assertRaises(NotImplementedError if refused and variant == "mamba2" else FileNotFoundError):
                        peer.prepare(asked)

    def test_copies_share_the_starts_of_texts(self):
        call = library_peers.Captured(None, [torch.ones(2)], dict(cu_seqlens=torch.tensor([0, 2])), None)
        copy = call.copy()
        self.assertIs(copy.options["cu_seqlens"], call.options["cu_seqlens"])
        self.assertIsNot(copy.args[0], call.args[0])


@unittest.skipIf(torch is None, "PyTorch is not installed")
class Conversions(unittest.TestCase):
    """Conversions are not part of a peer's time: the kernel is called with the adapter's results."""

    def captured(self, variant, tensors, backward=False, storage="float32"):
        calls = []

        def kernel(*args, **options):
            calls.append((args, options))
            first = args[0] * 1
            return first, options.get("initial_state")

        layer = library_peers.fla_layers.KERNELS[variant]["chunk"][0]
        inputs = library_peers.fla_layers.Inputs(tensors, getattr(torch, storage), dict(library_peers.fla_layers.SETTINGS))
        return library_peers.captured(layer, lambda: kernel, inputs), calls

    def tensors(self):
        return {name: array for name, array in tensors_of_a_layer((1, 2, 12, 4, 4)).items() if name in ("q", "k", "v", "beta", "alpha")}

    def test_gates_are_logarithms_before_the_clock_runs(self):
        tensors = self.tensors()
        call, calls = self.captured("gated_delta_net", tensors)
        with unittest.mock.patch.object(torch.Tensor, "log", side_effect=AssertionError("timed")), \
                unittest.mock.patch.object(torch.Tensor, "transpose", side_effect=AssertionError("timed")), \
                unittest.mock.patch.object(torch.Tensor, "contiguous", side_effect=AssertionError("timed")):
            call()
        self.assertEqual(len(calls), 2)
        self.assertIs(calls[0][1]["g"], calls[1][1]["g"])
        np.testing.assert_allclose(calls[1][1]["g"].detach().cpu().numpy(), np.log(tensors["alpha"]).transpose(0, 2, 1), rtol=1e-5)

    def test_strengths_are_in_the_keys_before_the_clock_runs(self):
        tensors = self.tensors()
        call, calls = self.captured("mamba2", tensors)
        with unittest.mock.patch.object(torch.Tensor, "__getitem__", side_effect=AssertionError("timed")):
            call()
        np.testing.assert_allclose(calls[1][0][1].detach().cpu().numpy(),
                                   (tensors["k"] * tensors["beta"][..., None]).transpose(0, 2, 1, 3), rtol=1e-5)

    def test_states_go_in_and_come_out_on_both_sides(self):
        tensors = {**self.tensors(), "state": np.zeros((1, 2, 4, 4))}
        call, calls = self.captured("linear", tensors)
        call()
        self.assertTrue(calls[1][1]["output_final_state"])
        self.assertEqual(tuple(calls[1][1]["initial_state"].shape), (1, 2, 4, 4))

    def test_storage_is_that_of_the_row(self):
        call, _ = self.captured("gated_delta_net", self.tensors(), storage="bfloat16")
        self.assertEqual([x.dtype for x in call.args[:3]], [torch.bfloat16] * 3)
        self.assertEqual(call.options["g"].dtype, torch.float32)  # gates and states keep their type
        self.assertEqual(call.options["beta"].dtype, torch.bfloat16)

    def test_gradients_are_the_kernels_own(self):
        call, calls = self.captured("gated_delta_net", self.tensors())
        work = call.backward()
        before = len(calls)
        gradients = work()
        self.assertEqual(len(calls), before)  # the forward pass is over
        self.assertEqual(tuple(gradients[0].shape), tuple(call.args[0].shape))

    def test_a_copy_has_tensors_of_its_own(self):
        call, _ = self.captured("linear", self.tensors())
        copy = call.copy()
        self.assertNotEqual(copy.args[0].data_ptr(), call.args[0].data_ptr())
        self.assertTrue(torch.equal(copy.args[0], call.args[0]))


@unittest.skipIf(torch is None, "PyTorch is not installed")
class Dialogue(unittest.TestCase):
    """The process, in the same protocol as the program uses."""

    def conversation(self, *questions):
        done = subprocess.run([sys.executable, os.path.join(BENCH, "peers.py")], capture_output=True, text=True,
                              input="".join(json.dumps(q) + "\n" for q in questions))
        self.assertEqual(done.returncode, 0, done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    @unittest.skipIf(torch is not None and torch.cuda.is_available(), "PyTorch's chunked forms are peers on a CPU")
    def test_a_case_is_named_made_ready_timed_and_compared(self):
        with tempfile.TemporaryDirectory() as folder:
            tensors = tensors_of_a_layer((2, 2, 24, 8, 4))
            for name in "qkv":
                tensors[name].astype(np.float32).tofile(os.path.join(folder, name + ".bin"))
            o = ours({n: tensors[n] for n in "qkv"}, "linear")["o"][-1, 0, :20]
            o.tofile(os.path.join(folder, "expected.bin"))
            asked = case(shape=[2, 2, 24, 8, 4], given=["q", "k", "v"], folder=folder, expected_steps=20)
            named, ready, taken, finished = self.conversation(
                asked, dict(ask="ready", peer=0, limit=60), dict(ask="take", peer=0, count=3), dict(ask="finish", peer=0))
        self.assertEqual(named, dict(peers=[dict(source="torch", storage="f32")]))
        self.assertEqual(ready["status"], "ok", ready)
        self.assertEqual(len(taken["samples"]), 3)
        self.assertTrue(all(seconds > 0 and clock == 1 for seconds, clock in taken["samples"]))
        self.assertEqual((finished["status"], finished["method"]), ("ok", "host clock, caches flushed"))
        self.assertLess(finished["error"], 1e-5)

    def test_a_refusal_is_no_failure(self):
        session = peers.Session()

        class Peer:
            source, storage, note = "fla", "f32", ""

            def __init__(self, error):
                self.error = error

            def prepare(self, case):
                raise self.error

        session.case = case()
        session.peers = [Peer(AssertionError("no\nfloat32")), Peer(RuntimeError("CUDA error"))]
        found = [session.answer(dict(ask="ready", peer=i, limit=5)) for i in range(2)]
        self.assertEqual(found, [dict(status="skipped", reason="no float32"), dict(status="failed", reason="CUDA error")])

    def test_a_first_call_beyond_its_time_is_cut_and_says_so(self):
        class Tunes:
            source, storage, note = "fla", "f32", ""

            def prepare(self, case):
                while True:
                    try:  # tuners catch exceptions of a configuration
                        time.sleep(0.01)
                    except Exception:
                        pass

        session = peers.Session()
        session.case, session.peers = case(), [Tunes()]
        self.assertEqual(session.answer(dict(ask="ready", peer=0, limit=0.1)),
                         dict(status="skipped", reason="its first call took longer than 0.1 s: its tuning was cut"))
        time.sleep(0.2)  # the alarm is off

    def test_what_is_not_installed_is_a_row_that_says_so(self):
        with unittest.mock.patch.object(library_peers.importlib.util, "find_spec", lambda name: None):
            (source, layer, load) = library_peers.adapters("linear", 64)[0]
        self.assertEqual(source, "fla")
        with self.assertRaisesRegex(NotImplementedError, "fla is not installed"):
            load()


@unittest.skipIf(torch is None, "PyTorch is not installed")
class Stopwatches(unittest.TestCase):
    def test_a_host_is_timed_from_call_to_return_after_a_warm_up(self):
        naps = [0.05, 0.03, 0.02]
        watch = stopwatches.HostStopwatch(lambda: lambda: time.sleep(naps.pop(0) if naps else 0.01), 0)
        seconds, clock = watch.sample()
        self.assertTrue(0.01 <= seconds < 0.04 and clock == 1)

    def fake_device(self, log, milliseconds, late=()):
        """A mock CUDA device: each event takes `milliseconds`; `late`: number of samples whose stream runs dry."""
        late = list(late)

        class Event:
            def __init__(self, enable_timing):
                pass

            def record(self):
                log.append("event")

            def query(self):
                return late.pop(0) if late else False

            def elapsed_time(self, other):
                return milliseconds.pop(0) if len(milliseconds) > 1 else milliseconds[0]

        large = unittest.mock.Mock()
        large.zero_ = lambda: log.append("flush")
        patches = [unittest.mock.patch.object(torch, "empty", return_value=large),
                   unittest.mock.patch.object(torch.cuda, "Event", Event),
                   unittest.mock.patch.object(torch.cuda, "_sleep", lambda cycles: log.append(f"hold {cycles}"), create=True),
                   unittest.mock.patch.object(torch.cuda, "synchronize", lambda: log.append("wait")),
                   unittest.mock.patch.object(torch.cuda, "get_device_properties", lambda i: unittest.mock.Mock(
                       L2_cache_size=1000, multi_processor_count=4)),
                   unittest.mock.patch.object(stopwatches.DeviceStopwatch, "clocks", lambda self: None)]
        for patch in patches:
            patch.start()
            self.addCleanup(patch.stop)

    def test_a_device_is_timed_by_events_in_a_stream_that_is_held(self):
        log = []
        self.fake_device(log, [2.0])
        watch = stopwatches.DeviceStopwatch(lambda: lambda: log.append("work"), 1e9)
        log.clear()
        self.assertEqual(watch.sample(), (0.002, 1.0))
        self.assertEqual(log, ["flush", "hold 100000", "event", "work", "event", "wait"])
        self.assertEqual(watch.method, "events, caches flushed")

    def test_a_stream_that_ran_dry_is_held_longer(self):
        log = []
        self.fake_device(log, [2.0], late=[True, True])
        watch = stopwatches.DeviceStopwatch(lambda: lambda: None, 1e9)
        self.assertEqual([x for x in log if x.startswith("hold")], ["hold 100000", "hold 400000", "hold 1600000"])
        self.assertEqual(watch.method, "events, caches flushed")

    def test_holding_has_an_end(self):
        log = []
        self.fake_device(log, [2.0], late=[True] * 100)
        watch = stopwatches.DeviceStopwatch(lambda: lambda: None, 1e9)
        self.assertLessEqual(len([x for x in log if x.startswith("hold")]), 7)
        self.assertEqual(watch.method, "events, caches flushed, the host's launches count")

    def test_short_work_is_many_passes_over_several_sets(self):
        log = []
        self.fake_device(log, [0.1, 0.3])
        made = []
        with unittest.mock.patch.object(stopwatches.DeviceStopwatch, "recorded", lambda self: None):
            watch = stopwatches.DeviceStopwatch(lambda: (made.append(1), lambda: log.append(f"set {len(made)}"))[1], 1000)
        self.assertEqual((len(made), watch.passes), (3, 3))  # three sets are three times the cache; three passes 0.3 ms
        self.assertAlmostEqual(watch.sample()[0], 1e-4)
        self.assertEqual(watch.method, "events around 3 passes, 3 buffer sets")


if __name__ == "__main__":
    unittest.main()
