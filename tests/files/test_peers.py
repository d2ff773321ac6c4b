# SPDX-License-Identifier: Apache-2.0
"""The peers of `bench --peers` compute what recollect computes: same tensors, same outputs. Needs PyTorch."""
import importlib.util
import os
import subprocess
import tempfile
import time
import unittest
import unittest.mock

import numpy as np

try:
    import torch
except ImportError:
    torch = None

PROGRAM = os.environ["RECOLLECT_PROGRAM"]
PEERS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "ci", "peers.py")


def load_peers():
    spec = importlib.util.spec_from_file_location("peers", PEERS)
    peers = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(peers)
    return peers


def tensors_of_a_layer(shape=(2, 2, 37, 8, 6)):
    draw, (B, H, T, Dk, Dv) = np.random.default_rng(1), shape
    unit = lambda x: x / np.linalg.norm(x, axis=-1, keepdims=True)
    return {"q": unit(draw.normal(size=(B, H, T, Dk))), "k": unit(draw.normal(size=(B, H, T, Dk))),
            "v": draw.normal(size=(B, H, T, Dv)), "beta": draw.uniform(0.2, 1, (B, H, T)),
            "alpha": draw.uniform(0.8, 1, (B, H, T)), "lambda": draw.uniform(0.8, 1, (B, H, T, Dk)),
            "w": unit(draw.normal(size=(B, H, T, Dk)))}


def ours(tensors, variant, *flags, form="recurrent"):
    """What `forward` writes for these tensors: {name: array}."""
    with tempfile.TemporaryDirectory() as folder:
        source, out = os.path.join(folder, "in.npz"), os.path.join(folder, "out.npz")
        np.savez(source, **tensors)
        done = subprocess.run([PROGRAM, "forward", variant, "-i", source, "-o", out, "--form", form, *flags],
                              capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        with np.load(out) as found:
            return dict(found)


def on_device(peers, tensors):
    return {name: torch.from_numpy(values).to(peers.DEVICE) for name, values in tensors.items()}


def request(variant="linear", form="chunked", **others):
    """What the program asks of a case, but for its tensors."""
    return dict(variant=variant, form=form, real="f32", chunk=16, parameters={}, min_seconds=0, limit=60, backward=False,
                tuned=False, given=[], **others)


@unittest.skipIf(torch is None, "PyTorch is not installed")
class Peers(unittest.TestCase):
    def test_every_peer_is_the_layer_it_is_timed_against(self):
        peers, tensors = load_peers(), tensors_of_a_layer()
        del tensors["lambda"]  # PyTorch's gated_linear has one gate a step
        x = on_device(peers, tensors)
        for (variant, form), peer in peers.TORCH.items():
            expected, found = ours(tensors, variant)["o"], peer(x, 16).cpu().numpy()
            self.assertLess(np.abs(found - expected).max(), 1e-10 * (1 + np.abs(expected).max()), (variant, form))

    def test_peers_in_bfloat16_are_their_layers_as_far_as_it_rounds(self):
        peers, tensors = load_peers(), tensors_of_a_layer((1, 2, 100, 16, 12))
        del tensors["lambda"]
        x = peers.in_bf16({name: t.float() for name, t in on_device(peers, tensors).items()})
        for variant, form in peers.TORCH:
            found = [peer(x) for source, peer, bf16 in peers.peers_of(request(variant, form), tensors) if bf16]
            self.assertEqual(len(found), form != "recurrent", (variant, form))  # loops are not timed in it
            for o in found:
                expected = ours(tensors, variant)["o"]
                error = np.linalg.norm(o.double().cpu().numpy() - expected) / np.linalg.norm(expected)
                self.assertTrue(2**-14 < error < 2**-6, (variant, form, error))  # it rounds by up to 2^-9

    def test_parameters_of_a_peer_are_those_of_its_layer(self):
        peers, tensors = load_peers(), tensors_of_a_layer()
        x = on_device(peers, tensors)
        for kappa1 in ("linear", "softmax"):
            for kappa2 in ("linear", "softmax"):
                given = dict(kappa1=kappa1, kappa2=kappa2, scale=0.7, tau=0.3)
                expected = ours(tensors, "delta_former", *(f"--set={name}={value}" for name, value in given.items()))["o"]
                for form in ("recurrent", "chunked"):
                    found = peers.TORCH["delta_former", form](x, 16, **given).cpu().numpy()
                    self.assertLess(np.abs(found - expected).max(), 1e-10 * (1 + np.abs(expected).max()), (form, given))

    def test_kernels_of_fla_are_the_layers_that_they_are_timed_against(self):
        peers = load_peers()
        kernels = peers.fla_kernels()
        if not kernels:
            self.skipTest("fla's kernels need a GPU and fla")
        takes = {"linear": "", "linear_elu": "", "retnet": "", "gated_linear": "alpha", "mamba2": "beta alpha",
                 "rwkv6": "lambda w", "rwkv7": "beta lambda w", "delta_net": "beta", "gated_delta_net": "beta alpha",
                 "mesa": "beta alpha"}
        self.assertEqual(kernels.keys(), takes.keys())
        for variant, names in [*takes.items(), ("gated_linear", "lambda"), ("gated_linear", "alpha lambda")]:
            heads = 1 if variant == "retnet" else 2  # whose other heads forget at other rates
            given = tensors_of_a_layer((1, heads, 128, 64, 64))
            if variant == "rwkv6":  # fla's bonus is one for all steps
                given["w"][:] = given["w"][:, :, :1]
            tensors = {name: given[name] for name in ("q", "k", "v", *names.split())}
            x = {n: t.transpose(1, 2).contiguous() for n, t in on_device(peers, tensors).items()}
            for dtype, precision in ((torch.float32, "tf32"), (torch.bfloat16, "bf16")):
                try:
                    found = kernels[variant]({n: t.to(dtype) for n, t in x.items()}).transpose(1, 2).double().cpu().numpy()
                except Exception as refused:  # fla refuses some types; `bench --peers` says so too
                    print(f"{variant}, {precision}: {' '.join(str(refused).split())[:120]}")
                    continue
                with tempfile.TemporaryDirectory() as folder:
                    source, out = os.path.join(folder, "in.npz"), os.path.join(folder, "out.npz")
                    np.savez(source, **tensors)
                    np.savez(out, o=found)
                    checked = subprocess.run([PROGRAM, "check", variant, "-i", source, "-c", out, "--dtype", precision],
                                             capture_output=True, text=True)
                self.assertEqual(checked.returncode, 0, f"{variant} ({names}): {checked.stdout}{checked.stderr}")

    def test_a_backward_pass_timed_is_that_of_the_layer(self):
        peers, tensors = load_peers(), tensors_of_a_layer()
        del tensors["lambda"]
        x = on_device(peers, tensors)
        d_o = np.random.default_rng(2).normal(size=tensors["v"].shape)
        for (variant, form), peer in peers.TORCH.items():
            found = peers.backward_of(lambda given: peer(given, 16), x, torch.from_numpy(d_o).to(peers.DEVICE))()
            expected = {name[1:]: values for name, values in ours({**tensors, "do": d_o}, variant, "--gradient").items()
                        if name[1:] in x}
            self.assertLessEqual({"q", "k", "v"}, expected.keys())
            for name, values in expected.items():
                error = np.abs(found[name].cpu().numpy() - values).max()
                self.assertLess(error, 1e-9 * (1 + np.abs(values).max()), (variant, form, name))


class Told:
    """A clock whose times are told beforehand; the last is told again and again."""

    def __init__(self, *seconds):
        self.told, self.calls = list(seconds), 0

    def seconds(self, work):
        work()
        self.calls += 1
        return self.told.pop(0) if len(self.told) > 1 else self.told[0]


@unittest.skipIf(torch is None, "PyTorch is not installed")
class Times(unittest.TestCase):
    def setUp(self):
        self.peers = load_peers()

    def row(self, peer, clock, **others):
        return self.peers.result("torch", peer, {}, {**request(), **others}, clock)

    def test_samples_follow_a_warm_up_until_two_calls_agree(self):
        clock = Told(100, 3, 2, 2.01, 1)  # the first call is the compiler's
        self.assertEqual(self.row(lambda x: None, clock, min_seconds=7)["seconds"], [1] * 7)
        self.assertEqual(clock.calls, 4 + 7)

    def test_what_takes_long_is_sampled_once(self):
        clock = Told(100, 99, 1)
        self.assertEqual(self.row(lambda x: None, clock, min_seconds=1)["seconds"], [99])

    def test_a_first_call_beyond_its_time_is_not_timed(self):
        def tunes_for_ever(x):
            while True:
                try:  # a tuner takes what a configuration raises for its refusal
                    time.sleep(0.01)
                except Exception:
                    pass

        row = self.row(tunes_for_ever, self.peers.HostClock(), limit=0.1)
        self.assertEqual(row, dict(source="torch", status="skipped", reason="its first call took longer than 0.1 s", seconds=[]))
        row = self.row(lambda x: time.sleep(0.01), self.peers.HostClock(), limit=0.5)
        time.sleep(0.6)  # the alarm is off
        self.assertEqual((row["status"], len(row["seconds"])), ("ok", 1))

    def test_a_refusal_is_no_failure(self):
        def refuses(x):
            raise AssertionError("no\nfloat32")

        def fails(x):
            raise RuntimeError("CUDA error")

        found = [self.row(peer, Told(1)) for peer in (refuses, fails)]
        self.assertEqual([(row["status"], row["reason"], row["seconds"]) for row in found],
                         [("skipped", "no float32", []), ("failed", "CUDA error", [])])

    def test_a_device_is_timed_by_its_events_behind_a_flush_that_nobody_waits_for(self):
        log = []

        class Event:
            def __init__(self, enable_timing):
                self.name = "end" if "start" in seen else "start"
                seen.append(self.name)

            def record(self):
                log.append(self.name)

            def synchronize(self):
                log.append(f"wait for {self.name}")

            def elapsed_time(self, other):
                return {("start", "end"): 2.0}[self.name, other.name]  # milliseconds

        seen, large = [], unittest.mock.Mock()
        large.zero_ = lambda: log.append("flush")
        with unittest.mock.patch.object(torch, "empty", return_value=large) as made, \
                unittest.mock.patch.object(torch.cuda, "Event", Event):
            clock = self.peers.DeviceClock()
            self.assertEqual(clock.seconds(lambda: log.append("work")), 0.002)
        self.assertEqual(log, ["flush"] * 4 + ["start", "work", "end", "wait for end"])
        self.assertGreaterEqual(made.call_args[0][0], 512 << 20)

    def test_kernels_that_are_tuned_answer_when_they_are_asked_so(self):
        seen = []

        def kernel(x):
            seen.append((x["q"].dtype, tuple(x["q"].shape)))
            return x["q"]

        tensors = {name: torch.zeros(1, 2, 24, 4, device=self.peers.DEVICE) for name in "qkv"}
        with unittest.mock.patch.object(self.peers, "fla_kernels", lambda: {"linear": kernel}), \
                unittest.mock.patch.object(self.peers, "load", lambda request: tensors):
            at_once = self.peers.answer(request(), Told(1))
            self.assertEqual([(row["source"], row["status"]) for row in at_once["results"]],
                             [("torch", "ok"), ("torch-bf16", "ok")])
            self.assertTrue(at_once["more"] and not seen)
            tuned = self.peers.answer({**request(), "tuned": True}, Told(1))
            self.assertEqual([row["source"] for row in tuned["results"]], ["fla", "fla-bf16"])
            self.assertFalse(tuned["more"])
            self.assertEqual(set(seen), {(torch.float32, (1, 24, 2, 4)), (torch.bfloat16, (1, 24, 2, 4))})
            for others in ({"form": "recurrent"}, {"real": "f64"}, {"parameters": {"scale": 2}}):
                asked = {**request(), **others}
                self.assertFalse(self.peers.answer(asked, Told(1))["more"])
                self.assertEqual(self.peers.answer({**asked, "tuned": True}, Told(1))["results"], [])


if __name__ == "__main__":
    unittest.main()
