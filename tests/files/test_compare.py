# SPDX-License-Identifier: Apache-2.0
"""Google Benchmark's compare tool can read the JSON of `bench`. Needs the tool (Debian: libbenchmark-tools)."""
import os
import re
import subprocess
import sys
import tempfile
import unittest

PROGRAM = os.environ["RECOLLECT_PROGRAM"]
TOOL = "/usr/share/benchmark/compare.py"


@unittest.skipUnless(os.path.exists(TOOL), "Google Benchmark's compare.py is not installed")
class Compare(unittest.TestCase):
    def test_a_run_equals_itself_case_by_case(self):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "b.json")
            subprocess.run([PROGRAM, "bench", "--variants", "linear,delta_net", "--forms", "chunked", "--shape", "1,2,128,8,8", "--min-time", "0",
                            "--max-time", "1", "--json", file], capture_output=True, check=True)  # fmt: skip
            done = subprocess.run([sys.executable, TOOL, "--no-color", "-a", "benchmarks", file, file], capture_output=True, text=True)
        if "No module named" in done.stderr:
            self.skipTest("the tool's own modules are missing: " + done.stderr.strip().splitlines()[-1])
        self.assertEqual(done.returncode, 0, done.stderr)
        for name in ("linear", "delta_net"):
            line = rf"{name}/chunked/B:1/H:2/T:128/Dk:8/Dv:8/f32_median +[+-]0\.0000 +[+-]0\.0000 +[1-9]\d* +[1-9]\d*"
            self.assertRegex(done.stdout, re.compile(line))


if __name__ == "__main__":
    unittest.main()
