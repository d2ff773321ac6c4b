# SPDX-License-Identifier: Apache-2.0
"""The messages of the scripts of ci/ and .ci/ if something in their environment is wrong. Nothing is installed or built: the
scripts run in a separate folder, with replacements for the programs that they call."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "ci" / "mutants"))
from run import rows_of  # noqa: E402


class Scripts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        for name in "ci", ".ci", "build", "bin":
            (self.folder / name).mkdir()
        self.copy("ci/beat.sh")

    def copy(self, *names):
        for name in names:
            shutil.copy(ROOT / name, self.folder / name)

    def script(self, name, text):
        path = self.folder / name
        path.write_text("#!/bin/sh\n" + text)
        path.chmod(0o755)

    def call(self, *words, **environment):
        path = f"{self.folder}/bin:{os.environ['PATH']}"
        kept = {k: v for k, v in {**os.environ, "PATH": path, **environment}.items() if v is not None}
        return subprocess.run(words, cwd=self.folder, env=kept, capture_output=True, text=True, timeout=600)

    def counted(self, log, status=0):
        """Runs ci/test.sh with a ctest that prints `log`."""
        self.copy("ci/test.sh")
        self.script("ci/build.sh", "")
        self.script("bin/ctest", f"cat <<'LOG'\n{log}\nLOG\nexit {status}")
        done = self.call("ci/test.sh")
        return done.returncode, done.stdout.splitlines()[-1]

    def test_counts_are_added_up(self):
        log = "    Start 1: a\n1: 3 passed, 0 failed\n    Start 2: b\n2: 4 passed, 0 failed"
        self.assertEqual(self.counted(log), (0, "7 passed, 0 failed"))
        self.assertEqual(self.counted(log.replace("4 passed, 0", "3 passed, 1"), 8), (1, "6 passed, 1 failed"))

    def test_a_silent_suite_is_told_of(self):
        """ci/test.sh prints every ten seconds (here: every second) the current case of each suite, but not the log of all
        cases."""
        self.copy("ci/test.sh")
        self.script("ci/build.sh", "")
        self.script("bin/ctest", """cat <<'LOG'
    Start 1: theory
    Start 2: python
    Start 3: blind
3: 5 passed, 0 failed
3/3 Test #3: blind ............   Passed    0.10 sec
1: a.cpp(1): Entering test suite "x"
1: a.cpp(2): Entering test case "first"
1: a.cpp(2): Leaving test case "first"; testing time: 2us
1: a.cpp(9): Entering test case "second"
2: test_progress (test_terminal.Terminal.test_progress) ... ok
2: test_help (test_terminal.Terminal.test_help) ... FAIL
LOG
sleep 2.5
echo '1: 2 passed, 0 failed'; echo '2: 1 passed, 1 failed'; exit 8""")
        done = self.call("ci/test.sh", BEAT_SECONDS="1")
        self.assertIn("ci/test.sh, 0:01 so far: theory: second, python: test_help\n", done.stderr)
        self.assertEqual(done.stderr.count("so far"), 2, done.stderr)
        self.assertEqual(done.returncode, 1)
        self.assertNotIn("Entering", done.stdout)
        self.assertNotIn("test_progress", done.stdout)
        self.assertIn("test_help (test_terminal.Terminal.test_help) ... FAIL", done.stdout)
        self.assertEqual(done.stdout.splitlines()[-1], "8 passed, 1 failed")

    def test_a_script_that_is_killed_leaves_nobody_talking(self):
        self.script("ci/slow.sh", "")
        (self.folder / "ci/slow.sh").write_text("#!/usr/bin/env bash\nset -euo pipefail\nsource ci/beat.sh\nbeat slow echo here\nsleep 3\n")
        for kill in ("kill -TERM $!", "kill -KILL $!"):
            done = self.call("bash", "-c", f"ci/slow.sh & sleep 1.5; {kill}; wait", BEAT_SECONDS="1")  # returns when stderr is closed
            self.assertEqual(done.stderr.count("slow, 0:01 so far: here\n"), 1, done.stderr)
            self.assertLessEqual(done.stderr.count("so far"), 3)

    def test_setup_tells_what_takes_long(self):
        self.copy("ci/setup.sh")
        self.script("bin/dpkg-query", f"[ -e {self.folder}/installed ] && printf installed")
        self.script("bin/apt-get", f"echo unpacking; sleep 1.5; touch {self.folder}/installed")
        done = self.call("ci/setup.sh", RECOLLECT_CACHE=str(self.folder / "cache"), Kokkos_ROOT=str(self.folder), BEAT_SECONDS="1")
        self.assertIn("setup, 0:01 so far: unpacking\n", done.stderr)

    def test_a_program_without_a_count_is_a_failure(self):
        log = "    Start 1: a\n1: 3 passed, 0 failed\n    Start 2: b\n2: says nothing"
        self.assertEqual(self.counted(log), (1, "3 passed, 1 failed"))
        self.assertEqual(self.counted("No tests were found!!!"), (1, "0 passed, 1 failed"))

    def test_a_stage_without_a_count_is_a_failure(self):
        self.copy(".ci/run")
        self.script("ci/test.sh", "echo 5 passed, 0 failed")
        self.script("ci/fuzz.sh", "echo 2 passed, 0 failed")
        self.script("ci/verify.sh", "echo nothing")
        done = self.call(".ci/run")
        self.assertEqual((done.returncode, done.stdout.splitlines()[-1]), (1, "7 passed, 1 failed"))

    def test_seeds_need_an_interval(self):
        self.copy("ci/seeds.sh")
        self.script("build/recollect", "exit 0")
        done = self.call("ci/seeds.sh", "3", "5")
        self.assertEqual((done.returncode, done.stdout), (0, "3 passed, 0 failed\n"))
        for words in (("5", "1"), ("1", "many"), ("-1", "2"), ()):
            done = self.call("ci/seeds.sh", *words)
            self.assertEqual((done.returncode, done.stdout), (2, ""), words)
            self.assertIn("usage", done.stderr)

    def test_setup_finds_a_home_or_says_what_is_missing(self):
        """Without HOME the scripts use the folder in the user database."""
        self.copy("ci/setup.sh")
        self.script("bin/dpkg-query", "printf installed")
        self.script("bin/apt-get", "echo called >>$0.log; exit 1")
        self.script("bin/getent", f"echo user:x:0:0::{self.folder}/home:/bin/sh")
        (self.folder / "home").mkdir()
        prefix = self.folder / "kokkos"
        for project in "Kokkos", "KokkosKernels":
            (prefix / "lib/cmake" / project).mkdir(parents=True)
            (prefix / "lib/cmake" / project / f"{project}Config.cmake").touch()
        bare = dict(HOME=None, XDG_CACHE_HOME=None, RECOLLECT_CACHE=None)
        done = self.call("ci/setup.sh", Kokkos_ROOT=str(prefix), **bare)
        self.assertEqual((done.returncode, done.stdout), (0, f"{prefix}\n"), done.stderr)
        self.assertTrue((self.folder / "home/.cache/recollect").is_dir())
        self.script("bin/getent", "exit 2")
        done = self.call("ci/setup.sh", Kokkos_ROOT=str(prefix), **bare)
        self.assertEqual((done.returncode, done.stdout), (3, ""))
        self.assertIn("RECOLLECT_CACHE", done.stderr)

    def test_setup_goes_on_without_what_is_optional(self):
        """It prints what is missing; a missing package that is not optional ends it."""
        self.copy("ci/setup.sh")
        self.script("bin/apt-get", "exit 1")
        prefix = self.folder / "kokkos"
        for project in "Kokkos", "KokkosKernels":
            (prefix / "lib/cmake" / project).mkdir(parents=True)
            (prefix / "lib/cmake" / project / f"{project}Config.cmake").touch()
        for absent, status, said in (("clang", 0, "no libFuzzer"), ("openmpi-bin", 0, "no mpirun"), ("cmake", 3, "not installed")):
            self.script("bin/dpkg-query", f'for last; do :; done; [ "$last" = {absent} ] || printf installed')
            done = self.call("ci/setup.sh", RECOLLECT_CACHE=str(self.folder / "cache"), Kokkos_ROOT=str(prefix))
            self.assertEqual((done.returncode, done.stdout), (status, f"{prefix}\n" if status == 0 else ""), done.stderr)
            self.assertIn(f"installing {absent}\n", done.stderr)
            self.assertIn(said, done.stderr)
            self.assertEqual(done.stderr.count("going on without"), status == 0)

    def test_setup_stops_before_a_full_disk_does(self):
        """apt is not called, because it would hold its lock while it tries."""
        self.copy("ci/setup.sh")
        self.script("bin/dpkg-query", "exit 1")
        self.script("bin/apt-get", f"echo called >>{self.folder}/apt.log")
        cache = self.folder / "cache"
        cache.mkdir()
        (cache / "setup.log").symlink_to("/dev/full")
        done = self.call("ci/setup.sh", RECOLLECT_CACHE=str(cache), Kokkos_ROOT=None)
        self.assertEqual((done.returncode, done.stdout), (3, ""), done.stderr)
        self.assertIn("setup.log", done.stderr)
        (cache / "setup.log").unlink()
        self.script("bin/df", "echo Avail; echo 1000")
        done = self.call("ci/setup.sh", RECOLLECT_CACHE=str(cache), Kokkos_ROOT=None)
        self.assertEqual((done.returncode, done.stdout), (3, ""), done.stderr)
        self.assertIn("MiB", done.stderr)
        self.assertFalse((self.folder / "apt.log").exists())

    def test_the_mutants_name_code_that_is_there(self):
        """Each quotes a line that occurs once in its file, so that it is unambiguous, and a different replacement."""
        for path, least in ("ci/subtle_mutants.txt", 20), ("ci/equivalent_mutants.txt", 50):
            rows = rows_of(path)
            self.assertGreater(len(rows), least)
            for name, before, after, remark in rows:
                lines = [line.strip() for line in (ROOT / name).read_text().splitlines()]
                self.assertEqual(lines.count(before), 1, f"{path}: {name}: {before}")
                self.assertNotIn(after, ("", before), before)
                self.assertTrue(remark, before)

    def test_the_examples_name_what_is_there(self):
        """A GitHub Action and a GitLab job: the scripts that they call, and the files that those leave."""
        left = (ROOT / "ci/verify.sh").read_text()
        for name, files in ("github.yml", {"verdicts.h5"}), ("gitlab.yml", {"verdicts.xml"}):
            text = (ROOT / "examples/ci" / name).read_text()
            self.assertTrue(os.access(ROOT / re.search(r"^ *- (?:run: )?(\.ci/run)$", text, re.M)[1], os.X_OK))
            self.assertEqual(set(re.findall(r"build/gate/([\w.]+)", text)), files)
            self.assertTrue(all(f'"$out/{file}"' in left for file in files) and "out=build/gate" in left, name)
        pages = (ROOT / "examples/ci/pages.yml").read_text()
        self.assertEqual(re.findall(r"run: (ci/\S+)(?: build/gate/(\w+))?", pages), [("ci/verify.sh", ""), ("ci/pages.sh", "report")])
        self.assertIn('-o "$out/report"', left)
        (command,) = re.findall(r"(build/recollect .*?) >>", (ROOT / "examples/ci/github.yml").read_text())
        program = os.environ["RECOLLECT_PROGRAM"]
        words = command.replace("build/recollect", program).replace("build/gate/verdicts.h5", "ci/baseline.h5").split()
        done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertTrue(done.stdout.startswith("**"), done.stdout)  # the summary of a Markdown page


if __name__ == "__main__":
    unittest.main()
