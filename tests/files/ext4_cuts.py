# SPDX-License-Identifier: Apache-2.0
"""Cuts the power of a real file system under run, verify, train and merge. To be run by hand, as root: while the command is
stopped before one of its calls, an ext4 file system in a loop device is shut down without its journal (ioctl EXT4_IOC_SHUTDOWN)
and mounted again.

    RECOLLECT_PROGRAM=build/recollect tests/files/ext4_cuts.py COUNT

What the command had reported as done must be in its file, and the same command, run again, must complete the file. The last
line is "N passed, M failed"."""
import collections
import fcntl
import os
import pathlib
import random
import signal
import struct
import subprocess
import sys

import at_call
from kills import SERIES, merging
from survival import Survival

SHUTDOWN = 0x8004587D, struct.pack("I", 2)  # without flushing the journal


class Cuts(Survival):
    def mount(self):
        subprocess.run(["mount", "-o", "loop", self.path("image"), self.path("disk")], check=True)

    def cut(self, words, resumes, first, said, whole, kind, at):
        subprocess.run(["mkfs.ext4", "-q", "-F", self.path("image"), "64M"], check=True)
        os.makedirs(self.path("disk"), exist_ok=True)
        self.mount()
        out, told = os.path.join(self.path("disk"), "r.h5"), self.path("said")
        try:
            with open(told, "w") as stdout:
                process = at_call.stopped((*words, "-o", out), kind, at, stdout)
                folder = os.open(self.path("disk"), os.O_RDONLY)
                fcntl.ioctl(folder, *SHUTDOWN)
                os.close(folder)
                process.send_signal(signal.SIGCONT)
                self.assertIn(process.wait(), (0, 3))  # 0: only cleaning up was left
            subprocess.run(["umount", self.path("disk")], check=True)
            self.mount()
            self.assert_kept(out, said(pathlib.Path(told).read_text()), first)
            self.assert_resumes(out, whole, (*words, "--resume") if resumes else words)
        finally:
            subprocess.run(["umount", self.path("disk")], check=True)

    def runTest(self):
        series, draw, cuts, failed = dict(SERIES), random.Random(1), collections.Counter(), 0
        whole = {name: self.uninterrupted(words, tables, name + ".h5") for name, (words, _, tables, _) in series.items()}
        series["merge"], whole["merge"] = merging(self), whole["run"]
        counts = {(name, kind): at_call.calls((*words, "-o", self.path("counted.h5")), kind, self.path("count"))
                  for name, (words, *_) in series.items() for kind in at_call.KINDS}  # fmt: skip
        for _ in range(int(sys.argv[1])):
            name, kind = draw.choice([place for place, calls in counts.items() if calls])
            words, resumes, (first, *_), said = series[name]
            at = draw.randint(1, counts[name, kind])
            cuts[name] += 1
            try:
                self.cut(words, resumes, first, said, whole[name], kind, at)
            except AssertionError as failure:
                failed += 1
                print(f"{name}: {kind} {at} of {counts[name, kind]}: {failure}", flush=True)
        print(", ".join(f"{name} {n}" for name, n in sorted(cuts.items())))
        print(f"{sum(cuts.values()) - failed} passed, {failed} failed")
        return failed


if __name__ == "__main__":
    test = Cuts()
    test.setUp()
    try:
        status = test.runTest() > 0
    finally:
        test.doCleanups()
    sys.exit(status)
