# SPDX-License-Identifier: Apache-2.0
"""Figures: which parts of the results are drawn, and how."""
