# SPDX-License-Identifier: Apache-2.0
"""The tables of docs/ are rendered from the data files; a test fails if one of them changes without the other."""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"


def check(folder):
    return subprocess.run([sys.executable, str(folder / "render.py"), "--check"], capture_output=True, text=True)


class Tables(unittest.TestCase):
    def test_documents_are_rendered_from_their_data(self):
        done = check(DOCS)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_number_that_is_not_in_the_data_is_noticed(self):
        with tempfile.TemporaryDirectory() as folder:
            docs = pathlib.Path(folder) / "docs"
            shutil.copytree(DOCS, docs)
            for name in "reports", "tests":
                (docs.parent / name).symlink_to(DOCS.parent / name)
            data = docs / "data" / "sanitizers.csv"
            whole = data.read_text()
            data.write_text(whole + "a tool,what, with a comma,abc,no finding\n")
            self.assertIn("another number of fields", check(docs).stderr)
            data.write_text(whole)
            page = docs / "checking-a-kernel.md"
            page.write_text(page.read_text().replace("| f32 | all mistakes | 1", "| f32 | all mistakes | 9"))
            done = check(docs)
            self.assertEqual(done.returncode, 1)
            self.assertIn("checking-a-kernel.md", done.stderr)


if __name__ == "__main__":
    unittest.main()
