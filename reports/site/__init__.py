# SPDX-License-Identifier: Apache-2.0
"""Pages: their contents and their templates."""
