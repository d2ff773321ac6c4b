# SPDX-License-Identifier: Apache-2.0
"""Runs Python tests against a program; a line per test; closes with "N passed, M failed".

python_tests.py PROGRAM [FILE ...]: without a FILE, every tests/**/test_*.py. In CTest, each file is an entry.
"""
import os
import pathlib
import sys
import unittest

if len(sys.argv) < 2 or not os.path.isfile(sys.argv[1]):
    sys.exit(__doc__.strip())
here = pathlib.Path(__file__).resolve().parent
os.environ["RECOLLECT_PROGRAM"] = os.path.abspath(sys.argv[1])
suite = unittest.TestSuite()
for file in [pathlib.Path(name).resolve() for name in sys.argv[2:]] or sorted(here.glob("**/test_*.py")):
    if not file.is_file():
        sys.exit(f"python_tests.py: there is no file {file}")
    suite.addTests(unittest.TestLoader().discover(str(file.parent), pattern=file.name, top_level_dir=str(file.parent)))
result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2, descriptions=False).run(suite)
failed = len(result.failures) + len(result.errors)
skipped = len(result.skipped)  # neither passed nor failed
if skipped:
    print(f"{skipped} skipped: " + "; ".join(reason for _, reason in result.skipped))
print(f"{result.testsRun - failed - skipped} passed, {failed} failed")
sys.exit(0 if result.testsRun and not failed else 1)
