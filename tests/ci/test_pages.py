# SPDX-License-Identifier: Apache-2.0
"""ci/pages.sh in repositories made for the test: versions keep their pages, `latest` is replaced, / lists them."""
import os
import re
import subprocess
import tempfile
import unittest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
SCRIPT = os.path.join(ROOT, "ci", "pages.sh")


class Pages(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.origin, self.clone, self.site = (os.path.join(folder.name, n) for n in ("origin.git", "clone", "site"))
        self.git("init", "-q", "--bare", "-b", "main", self.origin, at=folder.name)
        self.git("clone", "-q", self.origin, self.clone, at=folder.name)
        self.git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "first")
        self.git("push", "-q", "origin", "HEAD:main")
        os.makedirs(os.path.join(self.site, "claims"))

    def git(self, *words, at=None):
        return subprocess.run(["git", *words], cwd=at or self.clone, check=True, capture_output=True, text=True).stdout

    def publish(self, name, text, status=0):
        with open(os.path.join(self.site, "index.html"), "w", encoding="utf-8") as f:
            f.write(text)
        with open(os.path.join(self.site, "claims", f"{text}.html"), "w", encoding="utf-8") as f:
            f.write(text)
        done = subprocess.run([SCRIPT, self.site, name], cwd=self.clone, capture_output=True, text=True)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout + done.stderr

    def published(self, path):
        return self.git("show", f"gh-pages:{path}", at=self.origin)

    def test_versions_stay_and_latest_follows(self):
        self.publish("latest", "one")
        self.publish("v0.9.0", "one")
        self.publish("v0.10.0", "two")
        self.publish("latest", "three")
        self.assertIn("stays as it is", self.publish("v0.9.0", "four"))
        self.assertEqual([self.published(f"{n}/index.html") for n in ("latest", "v0.9.0", "v0.10.0")], ["three", "one", "two"])
        self.assertEqual(self.published("v0.9.0/claims/one.html"), "one")
        listed = re.findall(r'href="([^"]*)"', self.published("index.html"))
        self.assertEqual(listed, ["v0.10.0/index.html", "v0.9.0/index.html", "latest/index.html"])
        self.assertIn(".nojekyll", self.git("ls-tree", "--name-only", "gh-pages", at=self.origin).split())
        self.assertEqual(self.git("worktree", "list").count("\n"), 1)  # nothing is left behind
        self.assertEqual(self.git("branch", "--format", "%(refname:short)").split(), ["main"])

    def test_what_is_no_site_or_no_name_is_refused(self):
        self.assertIn("is no name of a folder", self.publish("../x", "one", status=2))
        os.remove(os.path.join(self.site, "index.html"))
        done = subprocess.run([SCRIPT, self.site, "v1"], cwd=self.clone, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr.count("\n")), (3, 1))
        self.assertIn("holds no index.html", done.stderr)


if __name__ == "__main__":
    unittest.main()
