# SPDX-License-Identifier: Apache-2.0
"""Figures: what is drawn of the results, and how."""
