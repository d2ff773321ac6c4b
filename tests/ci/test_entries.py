# SPDX-License-Identifier: Apache-2.0
"""CTest's entries: no C++ case or Python file is left out or runs twice; the quick ones leave out slow cases."""
import collections
import json
import os
import pathlib
import subprocess
import unittest

TESTS = pathlib.Path(__file__).resolve().parents[1]
BUILD = pathlib.Path(os.environ["RECOLLECT_PROGRAM"]).resolve().parent


def listed(command):
    """The cases that a command of the C++ tests would run."""
    done = subprocess.run([*command, "--", "--list"], cwd=BUILD, capture_output=True, text=True, check=True, timeout=60)
    return [line for line in done.stdout.splitlines() if "/" in line]


class Entries(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        done = subprocess.run(["ctest", "--show-only=json-v1"], cwd=BUILD, capture_output=True, text=True, check=True)
        cls.cases, cls.labels, cls.python = {}, {}, []
        for entry in json.loads(done.stdout)["tests"]:
            if entry["command"][0] == str(BUILD / "tests"):
                cls.cases[entry["name"]] = listed(entry["command"])
                properties = {p["name"]: p["value"] for p in entry["properties"]}
                cls.labels[entry["name"]] = properties.get("LABELS", [])
            elif str(TESTS / "python_tests.py") in entry["command"]:
                cls.python.append(entry["command"][3:])

    def test_every_case_is_in_one_entry(self):
        times = collections.Counter(case for cases in self.cases.values() for case in cases)
        self.assertGreater(len(times), 1000)
        self.assertEqual({case: n for case, n in times.items() if n != 1}, {})
        self.assertEqual(set(listed([BUILD / "tests", "--run_test=*"])) - set(times), set(), "cases of no entry")
        self.assertEqual([name for name, cases in self.cases.items() if not cases], [], "entries without a case")

    def test_every_python_file_is_in_one_entry(self):
        files = sorted([str(file)] for file in TESTS.glob("**/test_*.py"))
        self.assertIn([str(pathlib.Path(__file__).resolve())], files)
        self.assertEqual(sorted(self.python), files)

    def test_quick_entries_are_all_but_slow_cases_and_theory(self):
        quick = {case for name, cases in self.cases.items() for case in cases if "quick" in self.labels[name]}
        slow = set(listed([BUILD / "tests", "--run_test=@slow"]))
        theory = set(listed([BUILD / "tests", "--run_test=theory"]))
        self.assertTrue(slow)
        self.assertEqual(quick, set(listed([BUILD / "tests", "--run_test=*"])) - slow - theory)


if __name__ == "__main__":
    unittest.main()
