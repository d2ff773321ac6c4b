# SPDX-License-Identifier: Apache-2.0
"""ci/release.sh in a repository made for the test: the tarball, its checksum, the tag, and what it refuses."""
import hashlib
import os
import pathlib
import shutil
import subprocess
import tarfile
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
VERSIONED = ("CMakeLists.txt", "pyproject.toml", "CITATION.cff", "CHANGELOG.md", "ci/release.sh")


class Release(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.tree, self.out = pathlib.Path(folder.name) / "tree", pathlib.Path(folder.name) / "out"
        (self.tree / "ci").mkdir(parents=True)
        for name in VERSIONED:
            shutil.copy(ROOT / name, self.tree / name)
        self.version = next(
            line.split()[1] for line in (ROOT / "CITATION.cff").read_text().splitlines() if line.startswith("version: ")
        )
        self.git("init", "-q")
        self.commit()

    def git(self, *words):
        return subprocess.run(
            ["git", "-c", "user.name=a", "-c", "user.email=a@b", *words],
            cwd=self.tree,
            check=True,
            capture_output=True,
            text=True,
        ).stdout

    def commit(self):
        self.git("add", ".")
        self.git("commit", "-q", "-m", "x")

    def release(self, *words, status=0):
        names = {f"GIT_{who}_{what}": "a@b" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        done = subprocess.run(
            [self.tree / "ci/release.sh", *words, "-o", str(self.out)],
            env={**os.environ, **names},
            capture_output=True,
            text=True,
        )
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout if status == 0 else done.stderr

    def test_a_dry_run_makes_everything_and_tags_nothing(self):
        self.assertIn("is not tagged", self.release(self.version, "--dry-run"))
        self.assertEqual(self.git("tag"), "")
        tarball = self.out / f"recollect-{self.version}.tar.gz"
        with tarfile.open(tarball) as archive:
            names = {n for n in archive.getnames() if not n.endswith("ci")} - {f"recollect-{self.version}"}
        self.assertEqual(names, {f"recollect-{self.version}/{n}" for n in VERSIONED})
        check = ["sha256sum", "--check", "--quiet", "SHA256SUMS"]
        self.assertEqual(subprocess.run(check, cwd=self.out).returncode, 0)
        before = tarball.read_bytes()
        self.release(self.version, "--dry-run")
        self.assertEqual(tarball.read_bytes(), before)  # its bytes only depend on the commit
        tarball.write_bytes(before[:-1] + bytes([before[-1] ^ 1]))
        self.assertNotEqual(subprocess.run(check, cwd=self.out, capture_output=True).returncode, 0)

    def test_a_release_is_tagged_once(self):
        self.release(self.version)
        self.assertEqual(self.git("tag"), f"v{self.version}\n")
        said = self.git("tag", "-l", "--format=%(contents:body)").split()
        tarball = self.out / f"recollect-{self.version}.tar.gz"
        self.assertEqual(said, [hashlib.sha256(tarball.read_bytes()).hexdigest(), tarball.name])
        self.assertIn("a release is made once", self.release(self.version, status=3))

    def test_what_is_not_fit_is_refused(self):
        self.assertIn("CMakeLists.txt does not name version 9.9.9", self.release("9.9.9", status=3))
        for name in "pyproject.toml", "CHANGELOG.md":
            path = self.tree / name
            text = path.read_text()
            path.write_text(text.replace(self.version, "9.9.9"))
            self.assertIn("not committed", self.release(self.version, status=3))
            self.commit()
            self.assertIn(f"{name} does not name version", self.release(self.version, status=3))
            path.write_text(text)
            self.commit()
        self.assertIn("usage", self.release("1.0", status=2))
        self.assertEqual(self.git("tag"), "")


if __name__ == "__main__":
    unittest.main()
