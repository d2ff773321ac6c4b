# SPDX-License-Identifier: Apache-2.0
"""THREAT.md and docs/reliability.md name existing tests and commands; docs/faults.py records what commands print."""
import importlib.util
import pathlib
import re
import tempfile
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = ROOT / "docs" / "data" / "faults.csv"


def script():
    """docs/faults.py, not the module of the same name in tests/files."""
    spec = importlib.util.spec_from_file_location("docs_faults", ROOT / "docs" / "faults.py")
    module = importlib.util.module_from_spec(spec)
    with mock.patch("sys.path", [str(ROOT / "docs"), *__import__("sys").path]):
        spec.loader.exec_module(module)
    return module


class Reliability(unittest.TestCase):
    def test_threats_are_one_page_and_name_tests_that_exist(self):
        text = (ROOT / "THREAT.md").read_text()
        self.assertLess(text.count("\n"), 60)
        named = re.findall(r"[\w/]+\.(?:py|cpp)\b", text)
        self.assertGreater(len(named), 6)
        for name in named:
            self.assertTrue(list(ROOT.glob(name if "/" in name else f"tests/**/{name}")), name)

    def test_commands_of_the_table_exist(self):
        names = re.findall(r"(?:tests|ci)/[\w/]+\.(?:py|sh)|test_\w+", DATA.read_text())
        self.assertGreater(len(names), 8)
        for name in names:
            self.assertTrue(list(ROOT.glob(name if "/" in name else f"tests/files/{name}.py")), name)

    def test_the_last_line_of_a_command_is_its_result(self):
        faults = script()
        with tempfile.TemporaryDirectory() as folder:
            data = pathlib.Path(folder) / "faults.csv"
            data.write_text("# a machine\nwhat,command,commit,result\nits end,\"echo 1; echo '3 passed, 0 failed'\",x,y\nother,false,x,y\n")
            with mock.patch.object(faults, "DATA", str(data)), mock.patch("sys.argv", ["faults.py", "passed"]), mock.patch("builtins.print"):
                faults.main()
            first, second = data.read_text().splitlines()[2:]
            self.assertRegex(first, "\"3 passed, 0 failed\"$")
            self.assertNotIn(",x,", first)
            self.assertEqual(second, "other,false,x,y")


if __name__ == "__main__":
    unittest.main()
