# SPDX-License-Identifier: Apache-2.0
"""Runs the commands of README.md, CONTRIBUTING.md and docs/*.md. The blocks of a document run in order, in one folder.

    ```console      lines that begin with "$ " are commands; the lines after them are their output, at 100 columns.
                    "..." stands for any lines
    ```             every line is a command

Blocks of another language are not run. Commands in the running text run after the blocks. IN_PART replaces what takes long or
needs something else by a shorter command, BY_CI names commands that continuous integration runs."""
import json
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
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
SMALL = "recollect run --variants linear,delta_net --tasks recall --seeds 2"
NOTHING = []  # commands that would change the machine, or wait for something that a test does not have
IN_PART = {
    "recollect run --suite suites/quick.toml -o q.h5": ["recollect run --suite suites/quick.toml -o q.h5 --shard 1/200"],
    "recollect run --suite suites/tasks.toml -o tasks.h5": ["recollect run --suite suites/tasks.toml -o tasks.h5 --shard 1/200"],
    "recollect bench --variants delta_net --shape 1,2,1024,64,64 --dtype f32 -o bench.h5":
        ["recollect bench --variants delta_net --shape 1,2,1024,64,64 --dtype f32 -o bench.h5 --min-time 0.01 --max-time 1"],
    "recollect bench --forms fast --shapes bench/shapes.txt --peers --peers-limit 120 -o f32.h5":
        ["recollect bench --forms fast --variants linear --shape 1,1,64,8,8 --min-time 0.001 --max-time 1 -o f32.h5"],
    "recollect bench --forms fast --shapes bench/packed_shapes.txt --peers --peers-limit 120 -o packed.h5":
        ["recollect bench --forms fast --variants linear --shape 1,4,64,8,8 --texts 40,24 --min-time 0.001 --max-time 1 -o packed.h5"],
    "bench/collect.py f32.h5 bf16.h5 ... -o bench/results/DEVICE.csv && bench/speed_page.py": NOTHING,  # tests/docs/test_speed_page.py
    "recollect verify 'vla-cor*' --suite full --junit claims.xml --json claims.json":
        ["recollect verify 'vla-cor*' --junit claims.xml --json claims.json"],
    "recollect train --set mixer=softmax,vla --set width=32 --set steps=50 --quiet -o t.h5":
        ["recollect train --set mixer=softmax,vla --set width=8 --set steps=3 --quiet -o t.h5"],
    "ci/corpus.sh FILE": ["ci/corpus.sh 2>&1 | grep 'usage: ci/corpus.sh FILE'"],  # downloads a package
    "recollect report reports/results/*.h5 -o trained": ["recollect report reports/results/trained_momentum.h5 -o trained"],
    "mpirun -n 4 recollect run --suite suites/full.toml -o r.h5":
        ["recollect plan --suite suites/full.toml", f"mpirun -n 4 {SMALL} -o r.h5"],
    "recollect run --variants all --tasks all --shard 1/8 -o part-1.h5":
        [f"{SMALL} --shard {i}/2 -o part-{i}.h5" for i in (1, 2)],
    "build/recollect_blind 'snr_*'": ["build/recollect_blind snr_linear"],
    "cmake --build build --target recollect tests": ["cmake --build build --target recollect tests -- -n"],
    "build/tests --run_test=variants --run_test='!@slow'": ["build/tests --run_test=variants/linear --run_test='!@slow'"],
    "OMP_NUM_THREADS=1 recollect bench --variants linear --forms recurrent,chunked --sweep D=8:128:*2":
        ["recollect bench --variants linear --forms recurrent,chunked --shape 1,1,64,8,8 --sweep D=8,16 --min-time 0.001 --max-time 1"],
    "ci/seeds.sh 1 500": ["ci/seeds.sh 1 1 snr_linear"],
    "ci/seeds.sh 1 100 snr_linear": ["ci/seeds.sh 1 1 snr_linear"],
    "ci/baseline.py build/gate/verdicts.h5 ci/baseline.h5":
        ["recollect verify snr_linear -o v.h5; python3 ci/baseline.py v.h5 baseline.h5; recollect diff baseline.h5 v.h5 --gate"],
    "ci/mutants.sh --count 200 --jobs 4":  # each mutant takes a build; stops after checking the files
        ["ci/mutants.sh --count 200 --jobs 4 nowhere 2>&1 | grep 'no such file or folder: nowhere'"],
    "export PATH=$PWD/build:$PATH": ["export PATH=$PWD/build:$PATH; test \"$(command -v recollect)\" = $PWD/build/recollect"],
    "PYTHONPATH=~/.local/share/recollect/python":
        ["PYTHONPATH=~/.local/share/recollect/python python3 -c 'import importlib.util as u; assert u.find_spec(\"recollect\")'"],
    "LONG_STEPS=1000000 build/tests --run_test=variants/long_sequences --log_level=message":
        ["LONG_STEPS=1000 build/tests --list_content 2>&1 | grep long_sequences"],
    # docs/checking-a-kernel.md: there is no kernel, hence no file in out/
    "recollect check gated_delta_net --battery in -c out --dtype bf16 --grad --junit check.xml":
        ["mkdir out; recollect check gated_delta_net --battery in -c out --dtype bf16 --grad --junit check.xml 2>&1 | grep 'missing in out'"],
    "recollect check --plant docs/data/check-planted.csv": NOTHING,  # an hour
    "recollect check --self --record own.csv": ["recollect check --self linear --quick --record own.csv"],
    'python3 docs/summarise.py own.csv "recollect check --self" >docs/data/check-right-own.csv':
        ['python3 docs/summarise.py own.csv "recollect check --self" >own-summary.csv'],
    "recollect run --state-bytes 32K --variants all --set n=128 -o state-32k.h5 >state-32k.txt":
        ["recollect run --state-bytes 2K --variants linear,softmax --set n=16 --set memories=8 -o state-32k.h5 >state-32k.txt"],
    'python3 docs/ranking.py "COMMAND" "COMMIT; DEVICE" <state-32k.txt >docs/data/state-32k.csv && python3 docs/render.py':
        ['python3 docs/ranking.py "COMMAND" "COMMIT; DEVICE" <state-32k.txt >state-32k.csv && grep ^1,softmax,8,8,2048, state-32k.csv'],
    "python3 docs/render.py": ["python3 docs/render.py --check"],
    "cmake --preset asan && cmake --build --preset asan": NOTHING,
    "cmake --preset tsan && cmake --build --preset tsan --target recollect": NOTHING,
}  # fmt: skip
IN_PART |= {f"recollect {words} NAME": [f"recollect {words} {name}"] for words, name in
            (("list variants", "linear"), ("list tasks", "recall"), ("list claims", "snr_exp"), ("explain", "recall"),
             ("check --list-mistakes", "beta_not_applied"))} | {"recollect explain CLAIM": ["recollect explain snr_exp"],
               "recollect help COMMAND": ["recollect help run"]}  # fmt: skip
# Commands that build or fuzz: (the script of continuous integration that runs them, the words that must occur there).
BY_CI = {
    ".ci/run": (".ci/run", []),  # runs this test
    "ci/test.sh": (".ci/run", ["stage 23 ci/test.sh"]),
    "ci/verify.sh": (".ci/run", ["stage 3 ci/verify.sh"]),
    "ci/fuzz.sh --seconds 3600": (".ci/run", ["stage 4 ci/fuzz.sh --seconds 120"]),
    "python3 tests/python_tests.py build/recollect": ("CMakeLists.txt", ["tests/python_tests.py"]),  # runs this test
    "export Kokkos_ROOT=$(ci/setup.sh)": ("ci/build.sh", ["Kokkos_ROOT=$(ci/setup.sh)"]),
    "cmake --preset openmp": ("ci/build.sh", ["cmake --preset openmp"]),
    "cmake --build --preset openmp": ("ci/build.sh", ["cmake --build --preset openmp"]),
}  # fmt: skip
# docs/checking-a-kernel.md in five minutes: tests/python/test_five_minutes.py runs these commands.
IN_PART |= dict.fromkeys((
    "python3 -m venv --system-site-packages ~/.venvs/recollect", ". ~/.venvs/recollect/bin/activate",
    "pip install --quiet --no-build-isolation .", "export RECOLLECT=$PWD/build/recollect",
    "python3 -m pytest -q -x test_mine.py", "python3 -m pytest -q test_mine.py",
    r"sed -i 's/, beta\[:, t, :, None\] \* error)/, error)/' test_mine.py"), NOTHING)  # fmt: skip
PROGRAMS = r"(recollect|cmake|ctest|mpirun|python3?|export|git|sudo|apt(-get)?|pip3?|clang-format) |\.?ci/(\w+\.sh|run)\b|build/|[A-Z_]+=\S"


def without_comment(line):
    return re.sub(r"\s+", " ", re.sub(r"(^|\s+)#.*", "", line)).strip()


def blocks(text):
    """[(command, the output that the document shows, or None)] in order."""
    found = []
    for language, block in re.findall(r"^```(\w*)\n(.*?)^```$", text.replace("\\\n", " "), re.M | re.S):
        if language == "console":
            for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
                command, _, output = part.partition("\n")
                found.append((without_comment(command), output))
        elif language in ("", "sh"):
            found += [(command, None) for line in block.splitlines() if (command := without_comment(line))]
    return found


def inline(text):
    """Commands in the running text: code that begins with a program, or with a variable that is set for one."""
    text = re.sub(r"^```.*?^```$|^<!-- (?:table|bench):.*?^<!-- end -->$", "", text, flags=re.M | re.S)
    codes = [re.sub(r"\s+", " ", code) for code in re.findall(r"`([^`]+)`", text)]
    named_only = r"(recollect \w+|ci/\w+\.sh)$"  # a command or script named without its arguments
    return [code for code in dict.fromkeys(codes) if re.match(PROGRAMS, code) and not re.match(named_only, code)]


def pattern_of(output):
    """A regular expression for the displayed output; "..." matches any lines."""
    lines = [line.rstrip() for line in output.splitlines()]
    return "".join(r"(?:.*\n)*?" if line == "..." else re.escape(line) + "\n" for line in lines) + r"\Z"


class Documents(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        for name, place in ("ci", ROOT / "ci"), ("examples", ROOT / "examples"), ("build", os.path.dirname(PROGRAM)):
            os.symlink(place, self.path(name))
        for name in "reports", "suites", "tests":
            os.symlink(ROOT / name, self.path(name))
        shutil.copytree(ROOT / "docs", self.path("docs"), ignore=shutil.ignore_patterns("__pycache__"))

    def path(self, name):
        return os.path.join(self.folder, name)

    def run_line(self, line):
        path = f"{os.path.dirname(PROGRAM)}:{os.path.dirname(sys.executable)}:{os.environ['PATH']}"
        mpi = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
               "OMPI_MCA_hwloc_base_binding_policy": "none"}  # fmt: skip
        environment = {**os.environ, **mpi, "PATH": path, "HOME": self.folder, "COLUMNS": "100"}
        done = subprocess.run(line, shell=True, cwd=self.folder, env=environment, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, f"{line}\n{done.stdout[-2000:]}{done.stderr}")
        return "".join(text.rstrip() + "\n" for text in done.stdout.splitlines())

    def run_document(self, path):
        text = path.read_text()
        facts = subprocess.run([PROGRAM, "info"], capture_output=True, text=True).stdout
        mpi = re.search(r"^mpi +(?!none$)", facts, re.M) and shutil.which("mpirun")
        for command, shown in blocks(text) + [(code, None) for code in inline(text)]:
            if command in BY_CI or not (mpi or not command.startswith("mpirun ")):
                continue
            if command in IN_PART:
                for line in IN_PART[command]:
                    if mpi or not line.startswith("mpirun "):
                        self.run_line(line)
                continue
            output = self.run_line(command)
            if shown is not None and not re.match(pattern_of(shown), output):
                self.fail(f"{path.name}: {command}\nshown:\n{shown}\nprinted:\n{output}")

    def test_what_is_not_run_here_is_run_by_continuous_integration(self):
        said = {command for path in DOCUMENTS for command, _ in blocks(path.read_text())}
        said |= {command for path in DOCUMENTS for command in inline(path.read_text())}
        stale = {command for command in (set(IN_PART) | set(BY_CI)) - said if "bench" not in command}
        self.assertEqual(stale, set())  # every entry still occurs in some document
        for script, words in BY_CI.values():
            text = (ROOT / script).read_text()
            for word in words:
                self.assertIn(word, text, script)
        gate = (ROOT / "ci" / "verify.sh").read_text()
        self.assertIn("run --variants all --tasks all", gate)
        self.assertIn("verify --suite quick -o", gate)
        (published,) = re.findall(r'build/recollect report (.*) -o', gate)
        self.assertIn('run --suite suites/gate.toml -o "$out/results.h5"', gate)  # tuned, like the page's output
        self.assertTrue("$out/results.h5" in published and "coverage" not in published, published)
        self.assertIn("tune = true", (ROOT / "suites" / "gate.toml").read_text())

    def test_the_readme_is_a_first_page(self):
        text = (ROOT / "README.md").read_text()
        self.assertLessEqual(len(text.splitlines()), 110)
        self.assertGreater(sum(output not in (None, "") for _, output in blocks(text)), 3)
        self.assertEqual(max(map(len, (line for line in text.splitlines() if "](" not in line))) <= 132, True)

    def test_every_flag_path_and_link_is_there(self):
        helped = subprocess.run([PROGRAM, "--help"], capture_output=True, text=True).stdout
        offered = re.findall(r"^  ([a-z]+) ", helped, re.M)
        for name in offered:
            helped += subprocess.run([PROGRAM, name, "--help"], capture_output=True, text=True).stdout
        for script in [*ROOT.glob("examples/*.py"), *ROOT.glob("bench/*.py")]:
            helped += script.read_text()
        others = {"--preset", "--build", "--install", "--prefix", "--seconds", "--count", "--jobs", "--target", "--most", "--only",
                  "--first", "--check", "--oversubscribe", "--bind-to", "--log_level", "--run_test", "--list", "--no-build-isolation", "--system-site-packages"}  # fmt: skip
        folders = "bench|ci|docs|examples|harness|reports|suites|tasks|tests|theory|variants"
        for path in DOCUMENTS:
            text = re.sub(r"^<!-- (?:table|bench):.*?^<!-- end -->$", "", path.read_text(), flags=re.M | re.S)
            for flag in set(re.findall(r"(?<![\w-])--[a-z][\w-]*", text)) - others:
                self.assertRegex(helped, rf"{flag}\b", f"{path.name}: {flag}")
            for name in set(re.findall(rf"(?<![\w/.~*=-])(?:{folders})/[\w./-]*\w", text)):
                # a layer, task or claim that the reader would add
                if not re.search(r"/x\.cpp$|PAPER|DEVICE|\bx\b", name):
                    self.assertTrue((ROOT / name).exists() or list(ROOT.glob(name + "*")), f"{path.name}: {name}")
            for link in re.findall(r"\]\((?!https?:|#)([^)#]+)", text):
                self.assertTrue((path.parent / link).exists(), f"{path.name}: {link}")
        presets = {preset["name"] for preset in json.loads((ROOT / "CMakePresets.json").read_text())["configurePresets"]}
        text = (ROOT / "docs" / "installing.md").read_text()
        said = set(re.findall(r"`(\w+)`", re.search(r"Presets: (.*?)\. ", text, re.S)[1]))
        self.assertTrue({"openmp", "cuda"} < said < presets, said)

    def test_output_shown_is_compared(self):
        self.assertTrue(re.match(pattern_of("a\n...\nb 1\n"), "a\nx\ny\nb 1\n"))
        self.assertTrue(re.match(pattern_of("a\n...\n"), "a\n"))
        self.assertFalse(re.match(pattern_of("a\n...\nb 1\n"), "a\nx\nb 2\n"))
        self.assertFalse(re.match(pattern_of("a\n"), "a\nb\n"))

    def test_kernels_in_other_frameworks(self):
        """examples/: NumPy's kernels run with the README; PyTorch's run here, if it is installed. JAX and Triton are
        not run."""
        try:
            import torch  # noqa: F401
        except ImportError:
            self.skipTest("no PyTorch here: examples/kernel_torch.py was not run")
        head = (ROOT / "examples" / "kernel_torch.py").read_text().split('"""')[1]
        shutil.copy(ROOT / "examples" / "kernel_torch.py", self.folder)
        for line in head.splitlines():
            if line.startswith("    "):
                self.run_line(line.strip())

    def test_the_picture_is_drawn(self):
        try:
            import pandas  # noqa: F401
        except ImportError:
            self.skipTest("no pandas here: examples/accuracy_by_load.py was not run")
        self.run_line("recollect run --variants linear,rls --tasks recall --tune --set d=8 --set dv=8 --set n=2,4 --seeds 2 -o load.h5")
        self.run_line(f"PYTHONPATH='{ROOT}/reports/python' python3 examples/accuracy_by_load.py load.h5 load.svg")
        self.assertTrue(pathlib.Path(self.path("load.svg")).read_text().rstrip().endswith("</svg>"))


def of_document(path):
    return lambda self: self.run_document(path)


for document in DOCUMENTS:
    setattr(Documents, f"test_commands_of_{document.stem.replace('-', '_')}", of_document(document))

if __name__ == "__main__":
    unittest.main()
