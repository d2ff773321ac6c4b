# SPDX-License-Identifier: Apache-2.0
"""Disks that give out under a run: a quota used up, a disk gone bad or read-only, one whose power is cut."""
import errno
import os
import pathlib
import random
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor

import at_call
import power
from survival import RUN, Survival, reported

GIVES_OUT = (  # in which call, with which error
    ("write", errno.EDQUOT),
    ("fsync", errno.EDQUOT),
    ("open", errno.EDQUOT),  # a quota of files
    ("rename", errno.EDQUOT),  # the folder would grow
    ("fsync", errno.EIO),
    ("disk", errno.EROFS),  # as a file system is remounted after an error
)


class Disks(Survival):
    def each(self, attempt, cases, told=str):
        """Two at a time; the first failure is told with its case."""

        def one(case):
            try:
                return attempt(*case)
            except AssertionError as failure:
                raise AssertionError(f"{told(case)}: {failure}") from failure

        with ThreadPoolExecutor(2) as pool:
            return list(pool.map(one, cases))

    def test_a_disk_that_gives_out(self):
        """For good: from the first call of a kind on, from one between, and in the last."""
        whole = self.uninterrupted()

        def attempt(kind, code, at):
            out = self.path(f"{kind}.{code}.{at}.h5")
            done = self.run_program(*RUN, "-o", out, env=at_call.environment(kind, at, FAULT_ERRNO=str(code)))
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assert_one_line(done.stderr, os.strerror(code))
            self.assert_kept(out, reported(done.stdout))
            self.assert_resumes(out, whole)
            return reported(done.stdout)

        cases = []
        for kind, code in GIVES_OUT:
            calls = at_call.calls((*RUN, "-o", self.path("counted.h5")), kind, self.path("count"), FAULT_ERRNO=str(code))
            last = [] if kind == "disk" else [calls]  # when all that is left is to clear up, nothing is lost
            cases += [(kind, code, at) for at in [1, calls // 2, *last]]
        for (_, _, at), cases_done in zip(cases, self.each(attempt, cases)):
            self.assertEqual(cases_done > 0, at > 1)

    def test_power_is_cut(self):
        """Right after any call that concerns files, whatever the disk has kept of what it was not told to keep."""
        whole, folder, said = self.uninterrupted(), self.path("disk"), self.path("said")
        os.mkdir(folder)
        disk, states = power.Disk(), {}
        for what, length, *call in power.recorded((*RUN, "-o", os.path.join(folder, "r.h5")), self.path("journal"), said):
            disk.follow(what, *call)
            for left in disk.left():
                state = tuple(sorted((os.path.basename(path), data) for path, data in left.items()))
                states[state] = max(length, states.get(state, 0))
        there = {name: pathlib.Path(folder, name).read_bytes() for name in os.listdir(folder)}
        self.assertEqual({os.path.basename(path): file.written for path, file in disk.names.items()}, there)
        words = pathlib.Path(said).read_bytes()
        self.assertEqual(reported(words.decode()), len(whole["records"]))
        most = int(os.environ.get("RECOLLECT_CUTS", "20"))  # by hand: 1000, which is all
        resumed = set(random.Random(1).sample(list(states), min(most, len(states))))

        def attempt(state, length):
            folder = tempfile.mkdtemp(dir=self.folder)
            for name, data in state:
                pathlib.Path(folder, name).write_bytes(data)
            self.assert_kept(os.path.join(folder, "r.h5"), reported(words[:length].decode()))
            if state in resumed:
                self.assert_resumes(os.path.join(folder, "r.h5"), whole)

        self.each(attempt, states.items(), lambda case: f"left are {[(name, len(data)) for name, data in case[0]]}")


if __name__ == "__main__":
    unittest.main()
