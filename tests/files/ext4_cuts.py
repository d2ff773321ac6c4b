# SPDX-License-Identifier: Apache-2.0
"""Cuts a real file system's power under a run, by hand, as root: ext4 in a loop device, shut down without its journal
(ioctl EXT4_IOC_SHUTDOWN) while the run stands still before a call of its own, then mounted anew.

    RECOLLECT_PROGRAM=build/recollect tests/files/ext4_cuts.py COUNT

The last line is "N passed, M failed"."""
import fcntl
import os
import pathlib
import random
import signal
import struct
import subprocess
import sys
import tempfile

import at_call
from survival import RUN, Survival, reported

SHUTDOWN = 0x8004587D, struct.pack("I", 2)  # the journal is not flushed


class Cuts(Survival):
    def mount(self):
        subprocess.run(["mount", "-o", "loop", self.path("image"), self.path("disk")], check=True)

    def cut(self, kind, at, whole):
        subprocess.run(["mkfs.ext4", "-q", "-F", self.path("image"), "64M"], check=True)
        os.makedirs(self.path("disk"), exist_ok=True)
        self.mount()
        out, said = os.path.join(self.path("disk"), "r.h5"), self.path("said")
        try:
            with open(said, "w") as stdout:
                process = at_call.stopped((*RUN, "-o", out), kind, at, stdout)
                folder = os.open(self.path("disk"), os.O_RDONLY)
                fcntl.ioctl(folder, *SHUTDOWN)
                os.close(folder)
                process.send_signal(signal.SIGCONT)
                self.assertIn(process.wait(), (0, 3))  # 0: all that was left was to clear up
            subprocess.run(["umount", self.path("disk")], check=True)
            self.mount()
            self.assert_kept(out, reported(pathlib.Path(said).read_text()))
            self.assert_resumes(out, whole)
        finally:
            subprocess.run(["umount", self.path("disk")], check=True)

    def runTest(self):
        whole, draw, failed, count = self.uninterrupted(), random.Random(1), 0, int(sys.argv[1])
        counts = {kind: at_call.calls((*RUN, "-o", self.path("counted.h5")), kind, self.path("count")) for kind in at_call.KINDS}
        for _ in range(count):
            kind = draw.choice(at_call.KINDS)
            at = draw.randint(1, counts[kind])
            try:
                self.cut(kind, at, whole)
            except AssertionError as failure:
                failed += 1
                print(f"{kind} {at} of {counts[kind]}: {failure}", flush=True)
        print(f"{count - failed} passed, {failed} failed")


if __name__ == "__main__":
    test = Cuts()
    test.setUp()
    test.runTest()
    test.doCleanups()
