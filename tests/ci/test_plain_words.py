# SPDX-License-Identifier: Apache-2.0
"""ci/words.py: documents and clean folders contain no words that ci/words.txt replaced."""
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


class PlainWords(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        for name in "ci", "tasks", "docs":
            (self.folder / name).mkdir()
        shutil.copy(ROOT / "ci" / "words.py", self.folder / "ci")
        (self.folder / "ci" / "words.txt").write_text("# why\n\\bare gotten\\b -> have\ntasks: 1\n")
        subprocess.run(["git", "init", "-q"], cwd=self.folder, check=True)

    def write(self, name, text):
        (self.folder / name).write_text(text)

    def check(self):
        subprocess.run(["git", "add", "-A"], cwd=self.folder, check=True)
        done = subprocess.run(["python3", "ci/words.py"], cwd=self.folder, capture_output=True, text=True)
        return done.returncode, done.stdout, done.stderr

    def test_documents_have_none(self):
        self.write("docs/a.md", "Errors are\ngotten here.\n")
        code, _, said = self.check()
        self.assertEqual((code, said), (1, "docs/a.md: “are gotten”: have\n"))
        self.write("docs/a.md", "Errors occur here.\n")
        self.assertEqual(self.check()[0], 0)

    def test_a_folder_that_is_not_clean_may_only_become_cleaner(self):
        self.write("tasks/a.cpp", "// Two are\n// gotten.\n")
        self.assertEqual(self.check()[0], 0)
        self.write("tasks/b.cpp", '"so are "\n    "gotten"')
        code, _, said = self.check()
        self.assertEqual((code, said), (1, "tasks: 2 files have replaced words, 1 are allowed\n"))
        self.write("tasks/a.cpp", ""), self.write("tasks/b.cpp", "")
        self.assertEqual(self.check()[:2], (0, "ci/words.txt: lower tasks to 0\n"))

    def test_the_documents_of_this_tree(self):
        done = subprocess.run(["python3", str(ROOT / "ci" / "words.py"), "--documents"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()
