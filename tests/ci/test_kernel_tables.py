# SPDX-License-Identifier: Apache-2.0
"""The tables of CUDA kernels that are built (variants/kernels): CMake makes one source file of each line."""
import pathlib
import re
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
LINE = re.compile(r"^(RECOLLECT_\w+)\((?:extern)?, (.*)\)$", re.M)
SCRIPT = """cmake_minimum_required(VERSION 3.22)
include({root}/cmake/instances.cmake)
write_instances(sources {folder} {cuda} {headers})
"""


def lines_of(text):
    return LINE.findall(text)


class KernelTables(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.place = pathlib.Path(place.name)

    def write(self, headers, cuda="ON", root=ROOT):
        """CMake's exit status, and what it wrote: file name to lines."""
        script = self.place / "script.cmake"
        script.write_text(SCRIPT.format(root=root, folder=self.place / "out", cuda=cuda, headers=" ".join(headers)))
        ran = subprocess.run(["cmake", "-P", script], capture_output=True, text=True)
        files = {path.name: lines_of(path.read_text()) for path in (self.place / "out").rglob("*.cpp")}
        return ran, files

    def test_each_line_of_a_table_becomes_one_source_file(self):
        paths = (ROOT / "variants/kernels").rglob("*.hpp")
        headers = {str(path.relative_to(ROOT)): lines_of(path.read_text()) for path in paths}
        ran, files = self.write(sorted(headers))
        self.assertEqual(ran.returncode, 0, ran.stderr)
        lines = sorted(line for table in headers.values() for line in table)
        self.assertGreater(len(lines), 60)
        self.assertEqual(sorted(line for found in files.values() for line in found), lines)
        self.assertEqual({len(found) for found in files.values()}, {1})

    def test_without_cuda_only_tables_for_every_compiler_are_compiled(self):
        tables = ["variants/kernels/attention/chosen_similarities.hpp", "variants/kernels/chunked/instances.hpp"]
        self.assertEqual({name.split(".")[0] for name in self.write(tables, cuda="OFF")[1]}, {"chosen_similarities"})

    def test_a_line_that_stands_twice_is_an_error(self):
        (self.place / "cmake").mkdir()
        for name in ("instances.cmake", "instance.cpp.in"):
            (self.place / "cmake" / name).write_text((ROOT / "cmake" / name).read_text())
        (self.place / "table.hpp").write_text("namespace a {\nRECOLLECT_X(extern, int)\nRECOLLECT_X(extern, int)\n}\n")
        ran, _ = self.write(["table.hpp"], root=self.place)
        self.assertNotEqual(ran.returncode, 0)
        self.assertIn("has this line twice", ran.stderr)


if __name__ == "__main__":
    unittest.main()
