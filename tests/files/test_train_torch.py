# SPDX-License-Identifier: Apache-2.0
"""`recollect train` against PyTorch, step by step, from the same weights and texts. torch_training.py computes the losses a
second time; if PyTorch is missing, the losses that it wrote earlier, which are committed, are used."""
import csv
import subprocess
import sys
import unittest

import h5py
import numpy as np
import torch_training as reference
from in_folder import InFolder
from test_train import PROGRAM


def committed():
    with open(reference.TRACE, newline="") as f:
        names, *rows = csv.reader(f)
    return dict(zip(names, np.array(rows, dtype=float).T))


def tolerance(trace, name):
    """A step rounds every parameter once, and rounds its change by less. Each rounding error grows like a change of NUDGE in
    the initial parameters; the losses of 200 steps accumulate these errors."""
    loss = trace[name]
    growth = np.abs(trace[name + " nudged"] - loss) / reference.NUDGE
    return len(loss) * sys.float_info.epsilon * (np.maximum.accumulate(growth) + loss)


class Torch(InFolder):
    def trained(self, name):
        settings = {**reference.CASES[name], "every": 1, "evaluate": 1}
        done = subprocess.run([PROGRAM, "train", "--seed", str(reference.SEED), "--quiet", "-o", self.path(name),
                               *(word for key, value in settings.items() for word in ("--set", f"{key}={value}"))],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        with h5py.File(self.path(name)) as f:
            return f["training_curves"]["loss"]

    def test_200_steps_are_those_of_torch(self):
        trace = committed()
        for name in reference.CASES:
            found = self.trained(name)
            self.assertEqual(len(found), 200)
            self.assertLess(found[-20:].mean(), 0.7 * found[0], "it is to learn something in these steps")
            self.assertTrue((np.abs(found - trace[name]) <= tolerance(trace, name)).all(), name)

    def test_one_thing_wrong_is_noticed(self):
        trace = committed()
        for rival in reference.RIVALS:
            away = np.abs(trace[rival] - trace["softmax"]) / tolerance(trace, "softmax")
            self.assertGreater(away.max(), 1e6, rival)

    @unittest.skipIf(reference.torch is None, "PyTorch is not installed")
    def test_the_committed_losses_are_those_of_torch(self):
        trace = committed()
        for name, settings in reference.CASES.items():
            self.assertTrue((np.abs(reference.losses(settings) - trace[name]) <= tolerance(trace, name)).all(), name)


if __name__ == "__main__":
    unittest.main()
