# SPDX-License-Identifier: Apache-2.0
"""docs/figures.py draws every figure that docs/ shows, from files in the tree."""
import os
import pathlib
import re
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs"))
import figures  # noqa: E402
import rendering  # noqa: E402


class Figures(unittest.TestCase):
    def test_the_folder_has_what_the_data_give_as_svg_and_pdf(self):
        with tempfile.TemporaryDirectory() as folder:
            figures.main(folder)
            self.assertEqual(sorted(os.listdir(folder)), sorted(os.listdir(ROOT / "docs" / "figures")))
            drawn = pathlib.Path(folder, "recall_by_state.svg").read_text(encoding="utf-8")
        for row in rendering.read(str(ROOT / "docs" / "data" / "recall-by-state.csv"))[1]:
            self.assertIn(row["layer"], drawn)

    def test_every_picture_of_a_page_is_there_and_every_figure_is_on_a_page(self):
        shown = set()
        for page in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]:
            for link in re.findall(r"!\[[^]]*\]\(([^)]+)\)", page.read_text(encoding="utf-8")):
                self.assertTrue((page.parent / link).exists(), f"{page.name}: {link}")
                shown.add(pathlib.Path(link).stem)
        self.assertLessEqual({path.stem for path in (ROOT / "docs" / "figures").iterdir()}, shown)

    def test_the_layers_of_the_front_recall_at_least_as_much_as_smaller_ones(self):
        cells = figures.untrained()
        front = figures.runs.on_front(cells)
        self.assertIn("softmax", front)
        best = max(c.mean for c in cells if c.state_bytes <= 8192)
        self.assertEqual(max(c.mean for c in cells if c.variant in front and c.state_bytes <= 8192), best)


if __name__ == "__main__":
    unittest.main()
