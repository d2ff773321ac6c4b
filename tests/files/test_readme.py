# SPDX-License-Identifier: Apache-2.0
"""Every line of the README's blocks under "Use" ends as it should, in this order, in one folder."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM = os.environ["RECOLLECT_PROGRAM"]
ROOT = pathlib.Path(__file__).resolve().parents[2]
MATRIX = "recollect run --variants all --tasks all -o r.h5"  # all of it is run by ci/verify.sh
SMALL = "recollect run --variants linear,delta_net --tasks recall -o r.h5"
SUITE = "recollect run --suite ci/suites/quick.toml -o q.h5"
IN_PART = {MATRIX: SMALL, SUITE: SUITE + " --shard 1/200"}
# What lines take as given: made just before them.
GIVEN = {
    "gates.h5": ["recollect sample gated_delta_net --shape 1,2,128,16,16 -o gates.h5"],
    "v2.h5": ["cp v.h5 v2.h5"],
    "1.h5": [f"{SMALL[:-8]} --shard {i}/2 -o {i}.h5" for i in (1, 2)],
}


def lines():
    use = (ROOT / "README.md").read_text().split("\n## Use\n")[1].split("\n### ")[0]
    for block in re.findall(r"^```\n(.*?)^```$", use, re.M | re.S):
        for line in block.splitlines():
            yield re.sub(r"\s+", " ", re.sub(r"\s+#.*", "", line)).strip()


class Readme(unittest.TestCase):
    def run_line(self, line, folder):
        path = {"PATH": f"{os.path.dirname(PROGRAM)}:{os.path.dirname(sys.executable)}:{os.environ['PATH']}"}
        done = subprocess.run(line, shell=True, cwd=folder, env={**os.environ, **path}, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, f"{line}\n{done.stdout[-2000:]}{done.stderr}")

    def test_use(self):
        self.assertIn(MATRIX.split(" -o")[0][len("recollect ") :], (ROOT / "ci" / "verify.sh").read_text())
        commands = list(lines())
        said = {line.split()[1] for line in commands if line.startswith("recollect ")}
        offered = set(re.findall(r"^  ([a-z]+) ", subprocess.run([PROGRAM, "--help"], capture_output=True, text=True).stdout, re.M))
        self.assertGreater(len(said & offered), 12)
        with tempfile.TemporaryDirectory() as folder:
            for name in "ci", "examples":
                os.symlink(ROOT / name, os.path.join(folder, name))
            self.assertLess(IN_PART.keys(), set(commands))
            for line in commands:
                for name, made_by in GIVEN.items():
                    if re.search(rf"(?<![\w.]){re.escape(name)}(?![\w.])", line):
                        for command in made_by:
                            self.run_line(command, folder)
                self.run_line(IN_PART.get(line, line), folder)
            for name in "out/index.html", "claims.xml", "out.h5", "o.h5", "bench.h5", "all.h5":
                self.assertTrue(os.path.exists(os.path.join(folder, name)), name)
        self.assertIsNotNone(shutil.which("python3"))

    def test_kernels_in_other_frameworks(self):
        """examples/: NumPy's runs with the README; PyTorch's here, where there is one. JAX and Triton need theirs."""
        try:
            import torch  # noqa: F401
        except ImportError:
            self.skipTest("no PyTorch here: examples/kernel_torch.py was not run")
        head = (ROOT / "examples" / "kernel_torch.py").read_text().split('"""')[1]
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(ROOT / "examples" / "kernel_torch.py", folder)
            for line in head.splitlines():
                if line.startswith("    "):
                    self.run_line(line.strip(), folder)

    def test_the_picture_is_drawn(self):
        try:
            import pandas  # noqa: F401
        except ImportError:
            self.skipTest("no pandas here: examples/accuracy_by_load.py was not run")
        with tempfile.TemporaryDirectory() as folder:
            self.run_line("recollect run --variants linear,rls --tasks recall --tune --set d=8 --set dv=8 --set n=2,4 --seeds 2 -o load.h5", folder)
            draw = f"PYTHONPATH='{ROOT}/reports/python' python3 '{ROOT}/examples/accuracy_by_load.py' load.h5 load.svg"
            self.run_line(draw, folder)
            text = pathlib.Path(folder, "load.svg").read_text()
            self.assertTrue(text.rstrip().endswith("</svg>"))


if __name__ == "__main__":
    unittest.main()
