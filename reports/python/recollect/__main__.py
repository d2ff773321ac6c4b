# SPDX-License-Identifier: Apache-2.0
"""python3 -m recollect IN.pt OUT.safetensors: converts a file of tensors, so that the program can read it."""
import sys

from recollect.files import convert

if len(sys.argv) != 3 or not sys.argv[2].endswith(".safetensors"):
    sys.exit("usage: python3 -m recollect IN.pt OUT.safetensors")
try:
    convert(sys.argv[1], sys.argv[2])
except (OSError, ValueError, TypeError, ImportError) as failure:
    sys.exit(f"recollect: {failure}")
