# SPDX-License-Identifier: Apache-2.0
"""The report of result files. records.py has what files hold, figures/ what is drawn of it, site/ the pages."""
