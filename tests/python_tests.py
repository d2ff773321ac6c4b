# SPDX-License-Identifier: Apache-2.0
"""Runs every tests/**/test_*.py against the program given as the only argument; a line per test; closes with "N passed, M failed"."""
import os
import sys
import unittest

here = os.path.dirname(os.path.abspath(__file__))
os.environ["RECOLLECT_PROGRAM"] = os.path.abspath(sys.argv[1])
suite = unittest.TestSuite()
for folder in sorted({root for root, _, files in os.walk(here) if any(f.startswith("test_") for f in files)}):
    suite.addTests(unittest.TestLoader().discover(folder, top_level_dir=folder))
result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2, descriptions=False).run(suite)
failed = len(result.failures) + len(result.errors)
skipped = len(result.skipped)  # neither passed nor failed
if skipped:
    print(f"{skipped} skipped: " + "; ".join(reason for _, reason in result.skipped))
print(f"{result.testsRun - failed - skipped} passed, {failed} failed")
sys.exit(0 if result.testsRun and not failed else 1)
