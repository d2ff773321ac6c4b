# SPDX-License-Identifier: Apache-2.0
"""Finds the program `recollect`."""
from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path


def find_program() -> str:
    """The path of `recollect`: the environment variable RECOLLECT, or the program in the bin/ of the prefix that
    contains this package, or beside Python, or on the PATH. FileNotFoundError, with a message of one line, if there is
    none."""
    named = os.environ.get("RECOLLECT")
    if named:
        if not os.access(named, os.X_OK):
            raise FileNotFoundError(f"RECOLLECT={named} is no program that can be run")
        return named
    here = Path(__file__).resolve()
    beside = [folder / "bin" / "recollect" for folder in here.parents[:5]]  # prefix/share/recollect/python/recollect
    beside.append(Path(sys.executable).parent / "recollect")
    for candidate in beside:
        if candidate.is_file() and os.access(candidate, os.X_OK):
            return str(candidate)
    found = shutil.which("recollect")
    if not found:
        raise FileNotFoundError("no program recollect on the PATH: build it with CMake, then name it in RECOLLECT")
    return found
