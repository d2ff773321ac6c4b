# SPDX-License-Identifier: Apache-2.0
"""Files that scripts of ci/ derive from others: versions of claims, changed verdicts, references."""
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import h5py
import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "ci")]
import citation  # noqa: E402
import claim_versions  # noqa: E402
import verdicts_moved  # noqa: E402


class ClaimVersions(unittest.TestCase):
    def test_a_changed_claim_gets_its_next_version_and_keeps_the_earlier_ones(self):
        text, changes = claim_versions.updated("", {"000/b": "1", "000/a": "2"})
        self.assertEqual((text, changes), ('{"000/a", "2"},\n{"000/b", "1"},\n', ["000/a@1", "000/b@1"]))
        self.assertEqual(claim_versions.updated(text, {"000/b": "1", "000/a": "2"}), (text, []))
        text, changes = claim_versions.updated(text, {"000/b": "3"})
        self.assertEqual(
            (text, changes), ('{"000/a", "2 withdrawn"},\n{"000/b", "1 3"},\n', ["000/a: withdrawn", "000/b@2"])
        )
        back, changes = claim_versions.updated(
            text, {"000/a": "2", "000/b": "1"}
        )  # an earlier statement is a new version
        self.assertEqual(
            (back, changes), ('{"000/a", "2 withdrawn 2"},\n{"000/b", "1 3 1"},\n', ["000/a@3", "000/b@3"])
        )

    def test_the_longer_of_two_merged_rows_is_kept(self):
        text = '<<<<<<<\n{"000/a", "1"},\n=======\n{"000/a", "1 2"},\n>>>>>>>\n'
        self.assertEqual(claim_versions.updated(text, {"000/a": "2"}), ('{"000/a", "1 2"},\n', []))


class VerdictsMoved(unittest.TestCase):
    def write(self, path, found):
        with h5py.File(path, "w") as file:
            rows = np.array(
                [(c.encode(), v.encode()) for c, v in found.items()], dtype=[("claim", "S9"), ("verdict", "S20")]
            )
            file.create_dataset("claim_texts", data=rows)

    def test_moved_new_and_gone(self):
        with tempfile.TemporaryDirectory() as folder:
            one, two = (f"{folder}/{n}.h5" for n in "ab")
            self.write(one, {"kept": "holds", "moved": "holds", "gone": "refuted"})
            self.write(two, {"kept": "holds", "moved": "refuted", "new": "holds"})
            words = [sys.executable, str(ROOT / "ci/verdicts_moved.py"), one, two]
            said = subprocess.run(words, capture_output=True, text=True, check=True).stdout
            self.assertEqual(
                said, f"since,claim,was,is\n{two},gone,refuted,\n{two},moved,holds,refuted\n{two},new,,holds\n"
            )

    def test_the_history_of_a_repository(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "ci").mkdir()
            git = ["git", "-C", folder, "-c", "user.name=a", "-c", "user.email=a@b"]
            subprocess.run([*git, "init", "-q"], check=True)
            for verdict in "holds", "refuted":
                self.write(f"{folder}/{verdicts_moved.BASELINE}", {"x": verdict})
                subprocess.run([*git, "add", "."], check=True)
                subprocess.run([*git, "commit", "-q", "-m", verdict], check=True)
            rows = verdicts_moved.moved(verdicts_moved.history(folder))
        self.assertEqual([row[1:] for row in rows], [("x", "holds", "refuted")])
        self.assertRegex(rows[0][0], r"^\d{4}-\d\d-\d\d [0-9a-f]{7,}$")


class Citation(unittest.TestCase):
    def test_every_paper_is_cited(self):
        self.assertEqual(citation.main(["--check"]), 0)
        text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
        version = re.search(
            r"project\(recollect VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
        )
        self.assertIn(f"\nversion: {version[1]}\n", text)

    def test_names(self):
        self.assertEqual(citation.person("Emily B. Fox"), '      - {given-names: "Emily B.", family-names: "Fox"}')
        self.assertEqual(
            citation.person("Aaron van den Oord"), '      - {given-names: "Aaron", family-names: "van den Oord"}'
        )
        self.assertEqual(
            citation.person("Blaise Agüera y Arcas"), '      - {given-names: "Blaise", family-names: "Agüera y Arcas"}'
        )
        self.assertEqual(citation.person("Kimi Team"), '      - {name: "Kimi Team"}')


if __name__ == "__main__":
    unittest.main()
