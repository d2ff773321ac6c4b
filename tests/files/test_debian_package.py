# SPDX-License-Identifier: Apache-2.0
"""The Debian package of the program: built from the current build, installed into a separate root, run, removed."""
import glob
import os
import shutil
import subprocess
import tempfile
import unittest

BUILD = os.path.dirname(os.environ["RECOLLECT_PROGRAM"])
TOOLS = ("cpack", "dpkg", "dpkg-deb", "dpkg-shlibdeps")
MISSING = [tool for tool in TOOLS if not shutil.which(tool)] + (
    [] if os.geteuid() == 0 or shutil.which("fakeroot") else ["fakeroot"]
)


@unittest.skipIf(MISSING, f"no {', '.join(MISSING)} here: the Debian package was not made")
class DebianPackage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        words = ["-G", "DEB", "--config", f"{BUILD}/CPackConfig.cmake", "-B", f"{cls.folder.name}/made"]
        words += ["-D", "CPACK_COMPONENTS_ALL=program", "-D", "CPACK_STRIP_FILES=OFF"]  # seconds, for a smaller file
        done = subprocess.run(["cpack", *words], cwd=cls.folder.name, capture_output=True, text=True)
        if done.returncode:
            raise AssertionError(done.stdout + done.stderr)
        (cls.package,) = glob.glob(f"{cls.folder.name}/made/*.deb")
        cls.root = f"{cls.folder.name}/root"
        os.makedirs(f"{cls.root}/var/lib/dpkg/info")
        os.makedirs(f"{cls.root}/var/lib/dpkg/updates")
        for name in "status", "available":
            open(f"{cls.root}/var/lib/dpkg/{name}", "w").close()

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def dpkg(self, *words):
        program = [] if os.geteuid() == 0 else ["fakeroot"]
        # Its dependencies are installed on the machine, not in the empty root.
        flags = [f"--root={self.root}", "--force-not-root", "--force-depends", "--force-script-chrootless"]
        done = subprocess.run([*program, "dpkg", *flags, *words], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def field(self, name):
        return subprocess.run(
            ["dpkg-deb", "--field", self.package, name], check=True, capture_output=True, text=True
        ).stdout.strip()

    def test_what_it_says_of_itself(self):
        self.assertEqual(self.field("Package"), "recollect")
        version = subprocess.run([f"{BUILD}/recollect", "--version"], capture_output=True, text=True).stdout
        self.assertIn(self.field("Version"), version)
        needed = self.field("Depends")
        for package in "libhdf5-", "libzip4", "libopenblas0-openmp", "libstdc++6", "python3-h5py", "python3-jinja2":
            self.assertIn(package, needed)
        held = subprocess.run(
            ["dpkg-deb", "--contents", self.package], check=True, capture_output=True, text=True
        ).stdout
        self.assertNotIn(".a\n", held)
        self.assertNotIn("/include/", held)  # those are recollect-dev's

    def test_installed_run_and_removed(self):
        self.dpkg("--install", self.package)
        program = f"{self.root}/usr/bin/recollect"
        results, page = f"{self.folder.name}/r.h5", f"{self.folder.name}/page"
        for words in (
            ["run", "--variants", "linear", "--tasks", "recall", "--seeds", "1", "-o", results],
            ["report", results, "--format", "md", "-o", page],
        ):
            done = subprocess.run([program, *words], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertTrue(os.path.exists(f"{self.root}/usr/share/man/man1/recollect.1"))
        for found in glob.glob(f"{self.root}/usr/share/recollect/**/__pycache__", recursive=True):
            shutil.rmtree(found)  # Python writes these if the report runs as root
        self.dpkg("--purge", "recollect")
        left = [path for path, _, files in os.walk(f"{self.root}/usr") for _ in files]
        self.assertEqual(left, [])


if __name__ == "__main__":
    unittest.main()
