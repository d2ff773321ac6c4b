# SPDX-License-Identifier: Apache-2.0
"""The tables of docs/result-files.md are those of the files that the program writes."""
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

import h5py

PROGRAM = os.environ["RECOLLECT_PROGRAM"]
PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "result-files.md"
COMMANDS = (
    "run --variants linear --tasks recall --seeds 1 --set memories=2 -o r.h5",
    "verify snr_exp -o v.h5",
    "train --set steps=1 --set width=8 -o t.h5",
)


class ResultFiles(unittest.TestCase):
    def test_every_table_and_column_is_documented(self):
        documented = dict(re.findall(r"^\| `/([\w/]+)` \| (.*) \|$", PAGE.read_text(), re.M))
        documented.pop("series/NAME")  # only tasks with a curve write these
        written = {}
        with tempfile.TemporaryDirectory() as folder:
            for command in COMMANDS:
                subprocess.run([PROGRAM, *command.split(), "--quiet"], cwd=folder, check=True, capture_output=True)
                with h5py.File(os.path.join(folder, command.split()[-1])) as file:
                    written |= {name: ", ".join(file[name].dtype.names) for name in file if name not in ("meta", "series")}
        self.assertEqual(documented, written)


if __name__ == "__main__":
    unittest.main()
