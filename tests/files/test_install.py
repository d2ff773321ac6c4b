# SPDX-License-Identifier: Apache-2.0
"""The installed tree: program, report, completions, man page, Python module, and a program built against it."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM = os.environ["RECOLLECT_PROGRAM"]
BUILD = os.path.dirname(PROGRAM)
HERE = os.path.dirname(os.path.abspath(__file__))


class Install(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.prefix = os.path.join(cls.folder.name, "prefix")
        subprocess.run(["cmake", "--install", BUILD, "--prefix", cls.prefix], check=True, capture_output=True)
        cls.program = os.path.join(cls.prefix, "bin", "recollect")
        cls.runs = os.path.join(cls.folder.name, "r.h5")
        words = ("--variants", "linear,softmax", "--tasks", "recall", "--seeds", "2", "--tune", "--set", "n=4,8")
        subprocess.run([cls.program, "run", *words, "-o", cls.runs], check=True, capture_output=True)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def at(self, *parts):
        return os.path.join(self.prefix, *parts)

    def test_the_report_runs_from_the_prefix(self):
        done = subprocess.run([self.program, "report", self.runs, "-o", self.at("out"), "--format", "md", "--quiet"], capture_output=True, text=True)  # fmt: skip
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertTrue(os.path.exists(self.at("share", "recollect", "reports", "site", "templates", "base.html")))

    def test_man_page_and_completions(self):
        offered = subprocess.run([self.program, "--help"], capture_output=True, text=True).stdout.split("Subcommands:")[1]
        with open(self.at("share", "man", "man1", "recollect.1"), encoding="utf-8") as f:
            page = f.read()
        for command in re.findall(r"^  ([a-z]+) ", offered, re.M):
            self.assertIn(f"\n.B {command}", page)
        self.assertTrue(os.path.exists(self.at("share", "zsh", "site-functions", "_recollect")))
        self.assertTrue(os.path.exists(self.at("share", "fish", "vendor_completions.d", "recollect.fish")))
        script = f"""
source {self.at('share', 'bash-completion', 'completions', 'recollect')}
PATH={self.at('bin')}:$PATH
try() {{ COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _recollect; echo "${{COMPREPLY[*]}}"; }}
try recollect ver
try recollect run --var
try recollect run --variants delta_n
try recollect explain snr_lin
"""
        done = subprocess.run(["bash", "-c", script], capture_output=True, text=True)
        self.assertEqual(done.stdout.split("\n")[:4], ["verify", "--variants", "delta_net", "snr_linear"], done.stderr)

    @unittest.skipUnless(shutil.which("man"), "no man here: the page was not set")
    def test_the_man_page_can_be_set(self):
        done = subprocess.run(["man", "--warnings", "-l", self.at("share", "man", "man1", "recollect.1")], capture_output=True, text=True)  # fmt: skip
        self.assertIn("EXIT STATUS", done.stdout)
        self.assertEqual(done.stderr, "")

    def test_the_python_package_finds_the_program_of_its_prefix(self):
        script = "import recollect; print(recollect.check('linear', x, {'o': x['v']}).verdict)"
        given = "x = {'q': [[[[1.0]]]], 'k': [[[[1.0]]]], 'v': [[[[3.0]]]]}; "
        environment = {"PYTHONPATH": self.at("share", "recollect", "python"), "PATH": "/usr/bin:/bin"}
        ran = subprocess.run([sys.executable, "-c", given + script], env=environment, capture_output=True, text=True)
        self.assertEqual((ran.returncode, ran.stdout), (0, "right\n"), ran.stderr)

    def test_python_frames(self):
        try:
            import pandas  # noqa: F401
        except ImportError:
            self.skipTest("no pandas here: recollect.load was not tried")
        sys.path.insert(0, self.at("share", "recollect", "python"))
        self.addCleanup(sys.path.pop, 0)
        import recollect

        runs = recollect.load(self.runs).runs
        right = runs[(runs["metric"] == "accuracy") & (runs["setting"] == "tuned")]
        self.assertEqual(sorted(right["task.n"].unique()), [4.0, 8.0])
        self.assertEqual(len(right), 2 * 2 * 2)
        self.assertEqual((right["value"].dtype, right["task.n"].dtype, right["task"].iloc[0]), ("float64", "float64", "recall"))
        best = right[right["variant"] == "softmax"]
        self.assertTrue((best["softmax.scale"].dropna() >= 1).all())
        verdicts = os.path.join(self.folder.name, "v.h5")
        subprocess.run([self.program, "verify", "snr_linear", "-o", verdicts], check=True, capture_output=True)
        loaded = recollect.load(verdicts)
        self.assertEqual(list(loaded.claims["claim"]), ["snr_linear"])
        self.assertTrue(loaded.claims["passed"].dtype == bool and loaded.claims["variants"].iloc[0] == ["linear", "relu_kernel"])
        self.assertTrue((loaded.points["at.d"].dropna() >= 2).all())
        self.assertEqual(loaded.meta["seed"], "1")
        models = os.path.join(self.folder.name, "t.h5")
        words = "train --set mixer=linear,none --set width=8 --set heads=2 --set ffn=8 --set steps=20 --set every=10 --set pairs=2"
        subprocess.run([self.program, *words.split(), "-o", models], check=True, capture_output=True)
        loaded = recollect.load(models)
        self.assertEqual(list(loaded.trained["mixer"]), ["linear", "none"])
        self.assertEqual((list(loaded.trained["train.steps"]), loaded.trained["linear.scale"].dropna().tolist()), ([20, 20], [1]))
        self.assertTrue((loaded.trained["accuracy"] <= 1).all())
        self.assertEqual(list(loaded.curves["step"]), [10, 20, 10, 20])
        with self.assertRaises((ValueError, OSError)):
            recollect.load(__file__)

    def test_a_program_with_layers_tasks_and_claims_of_its_own(self):
        source, build = os.path.join(HERE, "..", "fixtures", "out_of_tree"), os.path.join(self.folder.name, "own")
        prefixes = f"-DCMAKE_PREFIX_PATH={self.prefix};{os.environ.get('Kokkos_ROOT', '')}"
        for words in (["-S", source, "-B", build, "-G", "Ninja", prefixes], ["--build", build]):
            done = subprocess.run(["cmake", *words], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, (done.stdout + done.stderr)[-2000:])
        own = os.path.join(build, "mine")
        ran = subprocess.run([own, "run", "--variants", "running_mean,linear", "--tasks", "echo", "--seeds", "1"], capture_output=True, text=True)  # fmt: skip
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertRegex(ran.stdout, r"running_mean +recurrent +([0-9.]+e-1[5-7]|0) ")
        verified = subprocess.run([own, "verify", "mean_forgets_order", "snr_linear", "--quiet"], capture_output=True, text=True)
        self.assertEqual((verified.returncode, verified.stdout), (0, "2 passed, 0 failed\n"))
        self.assertEqual(subprocess.run([own, "list", "variants", "running_mean", "softmax"], capture_output=True).returncode, 0)


if __name__ == "__main__":
    unittest.main()
