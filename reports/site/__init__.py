# SPDX-License-Identifier: Apache-2.0
"""Pages: what they say of the results, and their templates."""
