# SPDX-License-Identifier: Apache-2.0
"""A copy of the tree with a separate build folder, in which one file at a time is mutated, built and run."""
import hashlib
import json
import os
import re
import shutil
import subprocess

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", ".."))


def kokkos_root():
    given = os.environ.get("Kokkos_ROOT")
    return given or subprocess.check_output([os.path.join(ROOT, "ci/setup.sh")], text=True).strip()


class Scratch:
    """The whole copy is built once, with ccache if it is installed. A mutant then only rebuilds the files that it affects.
    """

    def __init__(self, folder, with_tests):
        self.folder, self.with_tests = folder, with_tests
        self.build = os.path.join(folder, "build")
        self.environment = dict(os.environ, Kokkos_ROOT=kokkos_root(), CCACHE_BASEDIR=folder, CCACHE_NOHASHDIR="1")
        self.environment.setdefault("OMP_NUM_THREADS", "1")

    def prepare(self):
        listed = ["git", "-C", ROOT, "ls-files", "-co", "--exclude-standard"]
        for name in subprocess.check_output(listed, text=True).splitlines():
            target = os.path.join(self.folder, name)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            if os.path.isfile(os.path.join(ROOT, name)):  # git lists a deleted file until the deletion is staged
                shutil.copy(os.path.join(ROOT, name), target)
        options = [f"-DBUILD_TESTING={'ON' if self.with_tests else 'OFF'}"]
        if shutil.which("ccache"):
            options += ["-DCMAKE_CXX_COMPILER_LAUNCHER=ccache", "-DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON"]
        done = self.call(["cmake", "--preset", "openmp", *options])
        if done.returncode or self.compile().returncode:
            raise SystemExit(f"mutants: the unchanged tree does not build in {self.folder}")
        self.objects = self.hashes()

    def call(self, command, timeout=None):
        return self.run(command, self.folder, self.environment, timeout)

    @staticmethod
    def run(command, folder, environment, timeout):
        words = {"capture_output": True, "text": True, "errors": "replace"}  # a mutant may print invalid UTF-8
        return subprocess.run(command, cwd=folder, env=environment, timeout=timeout, **words)

    def compile(self):
        targets = ["recollect", *(["tests"] if self.with_tests else [])]
        return self.call(["cmake", "--build", self.build, "--target", *targets])  # CMAKE_BUILD_PARALLEL_LEVEL: how many

    def hashes(self):
        """Hashes of the compiled objects, without the commit that the provenance names."""
        found = {}
        for folder, _, names in os.walk(os.path.join(self.build, "CMakeFiles")):
            for name in names:
                if name.endswith(".o") and not name.startswith("provenance"):
                    with open(os.path.join(folder, name), "rb") as f:
                        found[os.path.join(folder, name)] = hashlib.sha256(f.read()).digest()
        return found

    def read(self, name):
        with open(os.path.join(self.folder, name), encoding="utf-8") as f:
            return f.read()

    def write(self, name, source):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as f:
            f.write(source)

    def tests_fail(self, suites, timeout=300):
        """A description of the test cases of these suites that fail; "" if none does."""
        command = [os.path.join(self.build, "tests"), "--color_output=no", *(f"--run_test={suite}" for suite in suites)]
        try:
            done = self.call(command, timeout)
        except subprocess.TimeoutExpired:
            return f"{', '.join(suites)}: no end"
        cases = dict.fromkeys(re.findall(r'in "([\w/]+)"', done.stdout + done.stderr))
        return done.returncode and (", ".join(list(cases)[:4]) or f"{', '.join(suites)}: a crash")

    def python_fails(self, test, timeout=600):
        """A description of the Python tests of this file that fail; "" if none does."""
        environment = dict(self.environment, RECOLLECT_PROGRAM=os.path.join(self.build, "recollect"))
        command = [self.python(), "-m", "unittest", test]
        folder = os.path.join(self.folder, "tests", "files")
        try:
            done = self.run(command, folder, environment, timeout)
        except subprocess.TimeoutExpired:
            return f"{test}: no end"
        found = re.findall(r"^(?:FAIL|ERROR): (\w+)", done.stderr, re.M)
        return done.returncode and (f"{test}: " + ", ".join(dict.fromkeys(found)))

    def python(self):
        """The Python interpreter that the build found, which has h5py."""
        with open(os.path.join(self.build, "CMakeCache.txt"), encoding="utf-8") as f:
            return re.search(r"^RECOLLECT_PYTHON:\w+=(.*)$", f.read(), re.M)[1]

    def claims(self):
        said = self.call([os.path.join(self.build, "recollect"), "list", "claims", "--json"])
        return json.loads(said.stdout)

    def failing(self, ids, suite, timeout=None):
        """The claims out of `ids` that fail; all of them if the program does not finish."""
        out = os.path.join(self.folder, "findings.json")
        if os.path.exists(out):
            os.remove(out)
        command = [os.path.join(self.build, "recollect"), "verify", *ids, "--suite", suite, "--json", out]
        try:
            self.call(command, timeout)
        except subprocess.TimeoutExpired:
            return set(ids)
        if not os.path.exists(out):
            return set(ids)
        with open(out, encoding="utf-8") as f:
            found = json.load(f)["claims"]
        return {c["id"] for c in found if c["tested"] and not c["passed"]}
