# SPDX-License-Identifier: Apache-2.0
"""Every command of the README: run as it stands, or in part by a table here, or by continuous integration itself; one that is
none of these fails. The blocks of a section run in the order in which they stand, in one folder."""
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
TEXT = (ROOT / "README.md").read_text()
SMALL = "recollect run --variants linear,delta_net --tasks recall -o r.h5"
# What takes too long whole: the same command for fewer cases, or as far as it goes in seconds.
IN_PART = {
    "recollect run --variants all --tasks all --tune -o r.h5": [SMALL + " --tune"],  # all of it: ci/verify.sh
    "recollect verify -o v.h5": ["recollect verify --shard 1/8 -o v.h5"],  # all of it: ci/verify.sh
    "recollect run --suite ci/suites/quick.toml -o q.h5": ["recollect run --suite ci/suites/quick.toml -o q.h5 --shard 1/200"],
    "recollect bench --variants delta_net --shape 1,2,1024,64,64 -o bench.h5":
        ["recollect bench --variants delta_net --shape 1,2,1024,64,64 -o bench.h5 --min-time 0.01"],
    "mpirun -n 4 recollect run --suite ci/suites/full.toml -o r.h5":
        ["recollect plan --suite ci/suites/full.toml", SMALL.replace("recollect", "mpirun -n 4 recollect", 1)],
    "recollect run --variants all --tasks all --shard 1/8 -o part-1.h5":
        [f"{SMALL[:-8]} --shard {i}/2 -o part-{i}.h5" for i in (1, 2)],
    "build/recollect_blind 'snr_*'": ["build/recollect_blind snr_linear"],
    "ci/seeds.sh 1 500": ["ci/seeds.sh 1 1 snr_linear"],
    "ci/mutants.sh --count 200 --jobs 4":  # each mutant is a build: up to its look at the files
        ["ci/mutants.sh --count 200 --jobs 4 nowhere 2>&1 | grep 'no such file or folder: nowhere'"],
    "recollect list variants NAME": ["recollect list variants delta_net"],
    "export PATH=$PWD/build:$PATH": ["export PATH=$PWD/build:$PATH; test \"$(command -v recollect)\" = $PWD/build/recollect"],
    "PYTHONPATH=~/.local/share/recollect/python":
        ["PYTHONPATH=~/.local/share/recollect/python python3 -c 'import importlib.util as u; assert u.find_spec(\"recollect\")'"],
}  # fmt: skip
# What builds or fuzzes: the script that runs it in continuous integration, and how it is said there.
BY_CI = {
    ".ci/run": (".ci/run", []),  # what runs this test
    "ci/test.sh": (".ci/run", ["stage ci/test.sh"]),
    "ci/verify.sh": (".ci/run", ["stage ci/verify.sh"]),
    "ci/fuzz.sh --seconds 3600": (".ci/run", ["stage ci/fuzz.sh --seconds 120"]),
    "ci/setup.sh": ("ci/build.sh", ["$(ci/setup.sh)"]),
    "export Kokkos_ROOT=$(ci/setup.sh); cmake --preset openmp; cmake --build --preset openmp":
        ("ci/build.sh", ["Kokkos_ROOT=$(ci/setup.sh)", "cmake --preset openmp", "cmake --build --preset openmp"]),
}  # fmt: skip
# What lines take as given: made just before them.
GIVEN = {
    "gates.h5": ["recollect sample gated_delta_net --shape 1,2,128,16,16 -o gates.h5"],
    "v2.h5": ["cp v.h5 v2.h5"],
    "1.h5": [f"{SMALL[:-8]} --shard {i}/2 -o {i}.h5" for i in (1, 2)],
    "forward gated_delta_net -i in.h5": ["recollect sample gated_delta_net --shape 1,2,128,16,16 -o in.h5"],
}
NOT_COMMANDS = "The tree"  # its block names folders


def commands_of(block):
    """The commands of a block's lines, without what is said of them."""
    said = (re.sub(r"\s+", " ", re.sub(r"(^|\s+)#.*", "", line)).strip() for line in block.splitlines())
    return [command for command in said if command]


def sections():
    """{heading: the commands of its blocks}."""
    found, heading = {}, ""
    for title, block in re.findall(r"^#+ ([^\n]*)$|^```\w*\n(.*?)^```$", TEXT, re.M | re.S):
        heading = title or heading
        if block:
            found.setdefault(heading, []).extend(commands_of(block))
    return found


def inline():
    """Commands in the running text: code that begins with a program, or with what is set for one."""
    text = re.sub(r"^```.*?^```$", "", TEXT, flags=re.M | re.S)
    said = [re.sub(r"\s+", " ", code) for code in re.findall(r"`([^`]+)`", text)]
    starts = r"(recollect|cmake|ctest|mpirun|python3?|export|git|sudo|apt(-get)?|pip3?) |\.?ci/(\w+\.sh|run)\b|build/|[A-Z_]+="
    return [code for code in said if re.match(starts, code)]


class Readme(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        for name, place in ("ci", ROOT / "ci"), ("examples", ROOT / "examples"), ("build", os.path.dirname(PROGRAM)):
            os.symlink(place, self.path(name))

    def path(self, name):
        return os.path.join(self.folder, name)

    def run_line(self, line):
        path = f"{os.path.dirname(PROGRAM)}:{os.path.dirname(sys.executable)}:{os.environ['PATH']}"
        mpi = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
               "OMPI_MCA_hwloc_base_binding_policy": "none"}  # fmt: skip
        environment = {**os.environ, **mpi, "PATH": path, "HOME": self.folder}
        done = subprocess.run(line, shell=True, cwd=self.folder, env=environment, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, f"{line}\n{done.stdout[-2000:]}{done.stderr}")

    def run_all(self, commands):
        for command in commands:
            for name, made_by in GIVEN.items():
                if re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w.])", command):
                    for line in made_by:
                        self.run_line(line)
            for line in IN_PART.get(command, [command]):
                self.run_line(line)

    def exist(self, *names):
        for name in names:
            self.assertTrue(os.path.exists(self.path(name)), name)

    def test_every_command_is_known(self):
        found = sections()
        run_here = set(found) - {NOT_COMMANDS, "Two commands"}
        self.assertEqual(run_here, {"Use", "More than one process", "How a claim is judged"})  # each has its test below
        self.assertLess(set(found["Two commands"]), set(BY_CI))
        said = {command for commands in found.values() for command in commands} | set(inline())
        self.assertLess(set(IN_PART) | set(BY_CI), said)  # nothing here that the README no longer says
        for script, words in BY_CI.values():
            text = (ROOT / script).read_text()
            for word in words:
                self.assertIn(word, text, script)
        whole = "run --variants all --tasks all"
        self.assertIn("recollect " + whole, "\n".join(IN_PART))
        gate = (ROOT / "ci" / "verify.sh").read_text()
        self.assertIn(whole, gate)
        self.assertIn("verify --suite quick -o", gate)
        (published,) = re.findall(r'build/recollect report (.*) -o', gate)
        self.assertIn('run --suite ci/suites/gate.toml -o "$out/results.h5"', gate)  # tuned: what the page shows
        self.assertTrue("$out/results.h5" in published and "coverage" not in published, published)
        self.assertIn("tune = true", (ROOT / "ci" / "suites" / "gate.toml").read_text())

    def test_every_flag_and_path_is_there(self):
        helped = subprocess.run([PROGRAM, "--help"], capture_output=True, text=True).stdout
        offered = re.findall(r"^  ([a-z]+) ", helped, re.M)
        for name in offered:
            helped += subprocess.run([PROGRAM, name, "--help"], capture_output=True, text=True).stdout
        others = {"--preset", "--build", "--install", "--prefix", "--seconds", "--count", "--jobs"}  # of CMake, ci/
        for flag in set(re.findall(r"(?<![\w-])--[a-z][\w-]*", TEXT)) - others:
            self.assertRegex(helped, rf"{flag}\b", flag)
        self.assertGreater(len({c.split()[1] for c in sections()["Use"] if c.startswith("recollect ")} & set(offered)), 12)
        folders = "ci|examples|harness|reports|tasks|tests|theory|variants"
        for path in set(re.findall(rf"(?<![\w/.~-])(?:{folders})/[\w./-]*\w", TEXT)):
            if not re.search(r"/x\.cpp$|PAPER", path):  # of a layer, task or claim to come
                self.assertTrue((ROOT / path).exists(), path)
        presets = {preset["name"] for preset in json.loads((ROOT / "CMakePresets.json").read_text())["configurePresets"]}
        said = set(re.findall(r"`(\w+)`", re.search(r"Presets: (.*?)\. ", TEXT, re.S)[1]))
        self.assertTrue({"openmp", "cuda"} < said < presets, said)

    def test_use(self):
        self.run_all(sections()["Use"])
        self.exist("out/index.html", "claims.xml", "out.h5", "o.h5", "bench.h5", "all.h5")

    def test_more_than_one_process(self):
        commands = sections()["More than one process"]
        facts = subprocess.run([PROGRAM, "info"], capture_output=True, text=True).stdout
        mpi = re.search(r"^mpi +(?!none$)", facts, re.M) and shutil.which("mpirun")
        self.run_all(c for c in commands if mpi or not c.startswith("mpirun "))
        self.exist("part-1.h5", "r.h5", *(["out.h5"] if mpi else []))
        if not mpi:
            self.skipTest("no mpirun, or a program without MPI: the README's mpirun lines were not run")

    def test_programs_that_ask_whether_the_ledger_could_fail(self):
        self.run_all(c for c in sections()["How a claim is judged"] if c not in BY_CI)

    def test_the_running_text(self):
        self.run_all(dict.fromkeys(c for c in inline() if c not in BY_CI))
        self.exist(".local/bin/recollect")

    def test_kernels_in_other_frameworks(self):
        """examples/: NumPy's runs with the README; PyTorch's here, where there is one. JAX and Triton need theirs."""
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


if __name__ == "__main__":
    unittest.main()
