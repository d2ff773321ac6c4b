# SPDX-License-Identifier: Apache-2.0
"""The tables of CUDA kernels that are built (variants/kernels): exactly one source file defines each line."""
import pathlib
import re
import unittest

KERNELS = pathlib.Path(__file__).resolve().parents[2] / "variants" / "kernels"
LINE = re.compile(r"^(RECOLLECT_\w+)\((extern)?, (.*)\)$", re.M)


PHASES = ("RECOLLECT_SUMMARISE", "RECOLLECT_CARRY", "RECOLLECT_READ")
MEANS = {"RECOLLECT_PHASES": PHASES, "RECOLLECT_SCHEDULES": ("RECOLLECT_STREAM", *PHASES)}  # engine.hpp


def lines_of(paths):
    """(announced, defined): macro and arguments of each line."""
    found = [(name, arguments, bool(extern)) for path in paths for macro, extern, arguments in LINE.findall(path.read_text())
             for name in MEANS.get(macro, (macro,))]
    return tuple(sorted((name, arguments) for name, arguments, extern in found if extern is wanted) for wanted in (True, False))


class KernelTables(unittest.TestCase):
    def test_what_a_table_names_is_built_once(self):
        for folder, least in ((KERNELS / "chunked", 20), (KERNELS / "attention", 10), (KERNELS / "regression", 8)):
            announced, defined = lines_of(sorted(folder.glob("*.?pp")))
            self.assertEqual(announced, defined, folder)
            self.assertGreaterEqual(len(announced), least)
            self.assertEqual(len(set(announced)), len(announced))


if __name__ == "__main__":
    unittest.main()
