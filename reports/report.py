# SPDX-License-Identifier: Apache-2.0
"""report.py RESULTS.h5 ... -o DIR: the program that `recollect report` runs. command.py does the work."""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ABOVE = os.path.dirname(HERE)
sys.path[:1] = [ABOVE, os.path.join(HERE, "python"), os.path.join(ABOVE, "python")]  # in the tree; as installed

from reports.command import main  # noqa: E402


sys.exit(main())
