# SPDX-License-Identifier: Apache-2.0
"""The report of result files. records.py: their contents; figures/: drawings of them; site/: the pages."""
