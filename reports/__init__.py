# SPDX-License-Identifier: Apache-2.0
"""The report on result files. records.py has the contents of the files, figures/ the drawings, site/ the pages."""
