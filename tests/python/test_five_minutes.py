# SPDX-License-Identifier: Apache-2.0
"""docs/checking-a-kernel.md, "In five minutes": its commands in a new virtual environment, as a user types them."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ["RECOLLECT_PROGRAM"]
TEXT = (ROOT / "docs" / "checking-a-kernel.md").read_text().split("\n## In five minutes\n")[1].split("\n## ")[0]
NEEDED = ("ensurepip", "pip", "wheel", "setuptools", "pytest", "numpy")
MISSING = [name for name in NEEDED
           if subprocess.run([sys.executable, "-c", f"import {name}"], capture_output=True).returncode]  # fmt: skip


def commands():
    """[(command, the output shown, "" for none)]"""
    found = []
    for block in re.findall(r"^```console\n(.*?)^```$", TEXT, re.M | re.S):
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, _, output = part.partition("\n")
            found.append((command, output))
    return found


def lines_of(text):
    """Without trailing blanks, and every duration alike."""
    return [re.sub(r"\d+\.\d+s\b", "TIME", line.rstrip()) for line in text.splitlines()]


def is_shown(shown, printed):
    """Whether the lines shown are those printed; "..." stands for any lines."""
    pattern = "".join(r"(?:.*\n)*?" if line == "..." else re.escape(line) + "\n" for line in lines_of(shown))
    return re.fullmatch(pattern, "".join(line + "\n" for line in lines_of(printed))) is not None


@unittest.skipIf(MISSING, f"no {', '.join(MISSING)} here: the five minutes of docs/checking-a-kernel.md were not tried")
class FiveMinutes(unittest.TestCase):
    def test_a_mistake_is_named_after_the_commands_of_the_document(self):
        with tempfile.TemporaryDirectory() as folder:
            sources = pathlib.Path(folder) / "sources"
            shutil.copytree(ROOT / "reports" / "python", sources / "reports" / "python",
                            ignore=shutil.ignore_patterns("__pycache__"))  # fmt: skip
            for name in ("pyproject.toml", "setup.cfg", "README.md", "LICENSE"):
                shutil.copy(ROOT / name, sources)
            (sources / "build").symlink_to(pathlib.Path(PROGRAM).parent)
            (kernel,) = re.findall(r"^```python\n(.*?)^```$", TEXT, re.M | re.S)
            (sources / "test_mine.py").write_text(kernel)
            outputs, seconds = self.typed([command for command, _ in commands()], sources, folder)
        for (command, shown), printed in zip(commands(), outputs):
            said = f"{command}\nshown:\n{shown}\nprinted:\n{printed}"
            self.assertTrue(is_shown(shown, printed), said)
        print("\n".join(f"{took:5.1f} s  {command}" for (command, _), took in zip(commands(), seconds)))
        self.assertLess(sum(seconds), 300)

    def typed(self, typed, sources, home):
        """What one shell prints for each command, and its seconds."""
        mark = "--- finished at"
        script = "".join(f"{command}\necho '{mark}' $(date +%s.%N)\n" for command in ("true", *typed))
        path = f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"
        environment = {**{n: v for n, v in os.environ.items() if n not in ("RECOLLECT", "PYTHONPATH")},
                       "HOME": home, "PATH": path, "PIP_NO_INDEX": "1",
                       "PIP_DISABLE_PIP_VERSION_CHECK": "1"}  # fmt: skip
        done = subprocess.run(["bash", "-c", script], cwd=sources, env=environment, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)  # fmt: skip
        parts = re.split(rf"^{mark} (\S+)\n", done.stdout, flags=re.M)
        self.assertEqual(len(parts), 2 * len(typed) + 3, done.stdout)
        ends = [float(end) for end in parts[1::2]]
        return parts[2:-1:2], [end - start for start, end in zip(ends, ends[1:])]

    def test_output_that_differs_is_found(self):
        self.assertTrue(is_shown("...\nE  a\n3 passed in 1.2s\n", "x\ny\nE  a\n3 passed in 4.85s\n"))
        self.assertFalse(is_shown("...\nE  a\n3 passed in 1.2s\n", "x\nE  b\n3 passed in 4.85s\n"))
        self.assertFalse(is_shown("", "WARNING\n"))


if __name__ == "__main__":
    unittest.main()
