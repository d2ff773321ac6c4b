# SPDX-License-Identifier: Apache-2.0
"""action.yml: its steps run here as on a runner, on a correct and a wrong kernel; and the summary of a JUnit file."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "ci")]
import summary  # noqa: E402

ACTION = (ROOT / "action.yml").read_text(encoding="utf-8")
STEPS = dict(re.findall(r"^    - name: (\w+)\n(?:      .*\n)*?      run: \|\n((?:        .*\n)+)", ACTION, re.M))


class Action(unittest.TestCase):
    def test_the_steps_name_what_is_there(self):
        self.assertEqual(set(STEPS), {"version", "install", "libraries", "check", "summary"})
        for script in re.findall(r"\$GITHUB_ACTION_PATH/(ci/[\w.]+)", ACTION):
            self.assertTrue((ROOT / script).exists(), script)
        for name in re.findall(r"inputs\.(\w+)", ACTION):
            self.assertRegex(ACTION, rf"\n  {name}:\n    description: ")
        example = (ROOT / "examples/ci/kernels.yml").read_text(encoding="utf-8")
        for name in re.search(r"with: \{(tests.*)\}", example)[1].split(", "):
            self.assertIn(f"\n  {name.split(':')[0]}:\n", ACTION)

    def test_the_example_says_in_its_first_line_what_to_replace(self):
        first, *rest = (ROOT / "examples/ci/kernels.yml").read_text(encoding="utf-8").splitlines()
        name = re.search(r"^# Replace (\w+) in \"uses: \1/recollect\" by ", first)[1]
        self.assertEqual(len([line for line in rest if f"uses: {name}/recollect@" in line]), 1)

    def run_step(self, step, folder, **environment):
        path = f"{folder}:{ROOT / 'reports/python'}:{ROOT / 'tests/python'}"
        kept = {
            **os.environ,
            "PYTHONPATH": path,
            "GITHUB_ACTION_PATH": str(ROOT),
            "JUNIT": f"{folder}/v.xml",
            **environment,
        }
        script = STEPS[step].replace("python3 ", sys.executable + " ")
        return subprocess.run(
            ["bash", "-e", "-o", "pipefail", "-c", script], cwd=folder, env=kept, capture_output=True, text=True
        )

    def test_a_right_and_a_wrong_kernel(self):
        for factor, status in ("1", 0), ("2", 1):
            with tempfile.TemporaryDirectory() as folder:
                test = pathlib.Path(folder) / "test_kernel.py"
                test.write_text(
                    "from kernels import linear\nimport recollect.testing as rt\n\n\n"
                    '@rt.cases("linear", dtypes=["f32"], state=[None], only="T65*")\ndef test_linear(case):\n'
                    f'    case.check({factor} * linear(**case.inputs())["o"])\n'
                )
                program = os.environ["RECOLLECT_PROGRAM"]
                done = self.run_step("check", folder, RECOLLECT=program, TESTS=str(test))
                self.assertEqual(done.returncode, status, done.stdout + done.stderr)
                page = f"{folder}/summary.md"
                said = self.run_step("summary", folder, GITHUB_STEP_SUMMARY=page)
                self.assertEqual((said.returncode, said.stderr), (0, ""))
                text = pathlib.Path(page).read_text(encoding="utf-8")
                self.assertRegex(
                    text, r"\*\*[1-9]\d* passed, 0 failed" if factor == "1" else r"\*\*0 passed, [1-9]\d* failed"
                )
                self.assertEqual("| failed |" in text, factor == "2", text)


class Summary(unittest.TestCase):
    def said(self, xml):
        return summary.summary(ElementTree.fromstring(xml))

    def test_what_failed_comes_first(self):
        text = self.said(
            '<testsuites><testsuite><testcase classname="a" name="ok"/>'
            '<testcase name="s"><skipped message="zeros pass"/></testcase><testcase classname="a" name="bad">'
            '<failure message="o: row 3 | WRONG&#10;more">x</failure></testcase></testsuite></testsuites>'
        )
        lines = text.split("\n")
        self.assertEqual(lines[0], "**1 passed, 1 failed, 1 not decided**")
        self.assertEqual(lines[4:], ["| failed | `a.bad` | o: row 3 \\| WRONG |", "| not decided | `s` | zeros pass |"])

    def test_nothing_checked_is_no_pass(self):
        self.assertEqual(self.said("<testsuites/>"), "**No test ran: nothing was checked.**")
        done = subprocess.run(
            [sys.executable, str(ROOT / "ci/summary.py"), "/nonexistent.xml"], capture_output=True, text=True
        )
        self.assertEqual((done.returncode, done.stdout), (1, "**No verdicts: the check did not run.**\n"))


if __name__ == "__main__":
    unittest.main()
