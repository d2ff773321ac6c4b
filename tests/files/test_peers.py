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


def tensors_of_a_layer():
    draw, (B, H, T, Dk, Dv) = np.random.default_rng(1), (2, 2, 37, 8, 6)
    unit = lambda x: x / np.linalg.norm(x, axis=-1, keepdims=True)
    return dict(q=unit(draw.normal(size=(B, H, T, Dk))), k=unit(draw.normal(size=(B, H, T, Dk))),
                v=draw.normal(size=(B, H, T, Dv)), beta=draw.uniform(0.2, 1, (B, H, T)),
                alpha=draw.uniform(0.8, 1, (B, H, T)))


def on_device(peers, tensors):
    return {name: torch.from_numpy(values).to(peers.DEVICE) for name, values in tensors.items()}


@unittest.skipIf(torch is None, "PyTorch is not installed")
class Peers(unittest.TestCase):
    def test_every_peer_is_the_layer_it_is_timed_against(self):
        peers, tensors = load_peers(), tensors_of_a_layer()
        x = on_device(peers, tensors)
        with tempfile.TemporaryDirectory() as folder:
            source, out = os.path.join(folder, "in.h5"), os.path.join(folder, "out.h5")
            with h5py.File(source, "w") as f:
                for name, values in tensors.items():
                    f[name] = values
            for (variant, form), peer in peers.TORCH.items():
                done = subprocess.run([PROGRAM, "forward", variant, "-i", source, "-o", out, "--form", "recurrent"],
                                      capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stderr)
                with h5py.File(out) as f:
                    expected = f["o"][:]
                found = peer(x, 16).cpu().numpy()
                self.assertLess(np.abs(found - expected).max(), 1e-10 * (1 + np.abs(expected).max()), (variant, form))

    def test_a_backward_pass_timed_is_that_of_the_layer(self):
        peers, tensors = load_peers(), tensors_of_a_layer()
        x = on_device(peers, tensors)
        d_o = np.random.default_rng(2).normal(size=tensors["v"].shape)
        with tempfile.TemporaryDirectory() as folder:
            source, out = os.path.join(folder, "in.h5"), os.path.join(folder, "out.h5")
            with h5py.File(source, "w") as f:
                for name, values in {**tensors, "do": d_o}.items():
                    f[name] = values
            for (variant, form), peer in peers.TORCH.items():
                done = subprocess.run([PROGRAM, "forward", variant, "-i", source, "-o", out, "--form", "recurrent",
                                       "--gradient"], capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stderr)
                found = peers.backward_of(lambda given: peer(given, 16), x, torch.from_numpy(d_o).to(peers.DEVICE))()
                with h5py.File(out) as f:
                    expected = {name[1:]: f[name][:] for name in f if name[1:] in x}
                self.assertLessEqual({"q", "k", "v"}, expected.keys())
                for name, values in expected.items():
                    error = np.abs(found[name].cpu().numpy() - values).max()
                    self.assertLess(error, 1e-9 * (1 + np.abs(values).max()), (variant, form, name))


if __name__ == "__main__":
    unittest.main()
