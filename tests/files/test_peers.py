# SPDX-License-Identifier: Apache-2.0
"""The peers of `bench --peers` compute what recollect computes: same tensors, same outputs. Needs PyTorch."""
import importlib.util
import os
import subprocess
import tempfile
import unittest

import h5py
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


def write(path, tensors):
    with h5py.File(path, "w") as f:
        for name, values in tensors.items():
            f[name] = values


def ours(tensors, variant, *flags, form="recurrent"):
    """What `forward` writes for these tensors: {name: array}."""
    with tempfile.TemporaryDirectory() as folder:
        source, out = os.path.join(folder, "in.h5"), os.path.join(folder, "out.h5")
        write(source, tensors)
        done = subprocess.run([PROGRAM, "forward", variant, "-i", source, "-o", out, "--form", form, *flags],
                              capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        with h5py.File(out) as f:
            return {name: f[name][:] for name in f if isinstance(f[name], h5py.Dataset)}


def on_device(peers, tensors):
    return {name: torch.from_numpy(values).to(peers.DEVICE) for name, values in tensors.items()}


@unittest.skipIf(torch is None, "PyTorch is not installed")
class Peers(unittest.TestCase):
    def test_every_peer_is_the_layer_it_is_timed_against(self):
        peers, tensors = load_peers(), tensors_of_a_layer()
        del tensors["lambda"]  # PyTorch's gated_linear has one gate a step
        x = on_device(peers, tensors)
        for (variant, form), peer in peers.TORCH.items():
            expected, found = ours(tensors, variant)["o"], peer(x, 16).cpu().numpy()
            self.assertLess(np.abs(found - expected).max(), 1e-10 * (1 + np.abs(expected).max()), (variant, form))

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
                    source, out = os.path.join(folder, "in.h5"), os.path.join(folder, "out.h5")
                    write(source, tensors)
                    write(out, {"o": found})
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


if __name__ == "__main__":
    unittest.main()
