# SPDX-License-Identifier: Apache-2.0
"""Finds the smallest inputs on which a kernel still fails, and writes a script that repeats the failure."""
from __future__ import annotations

import inspect
import json
import os
import re
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, Callable, Iterator

import numpy as np

from recollect.cases import Arrays, Case, CheckFailed
from recollect.layer import TEXT_BOUNDS

Attempt = Callable[[Case], None]  # runs the kernel on the case; CheckFailed if it is wrong


def smallest(case: Case, failure: CheckFailed, attempt: Attempt, seconds: float = 20.0) -> tuple[Case, CheckFailed]:
    """(case, failure): the smallest case found on which the kernel is still wrong, and how it fails there. A smaller
    case has fewer texts, heads, steps or channels; large reductions are tried first. After `seconds`, no further
    attempt starts. A case that the kernel or the layer refuses does not count as wrong."""
    end = time.monotonic() + seconds
    found = True
    while found:
        found = False
        for one in _smaller(case):
            smaller = replace(one, shrunk=True)
            if time.monotonic() > end:
                return case, failure
            again = failure_of(attempt, smaller)
            if again is not None:
                case, failure, found = smaller, again, True
                break
    return case, failure


def failure_of(attempt: Attempt, case: Case) -> CheckFailed | None:
    """The kernel's failure on the case; None if the kernel is right or does not run."""
    try:
        attempt(case)
    except CheckFailed as failure:
        return failure
    except Exception:  # the kernel may refuse such a shape, or the program may fail
        return None
    except BaseException as other:
        if type(other).__name__ != "Skipped":  # the test called pytest.skip
            raise
    return None


def _smaller(case: Case) -> Iterator[Case]:
    """Smaller cases, those with the largest reductions first."""
    sizes = case.sizes()
    if TEXT_BOUNDS in case.arrays:
        yield from _fewer_texts(case)
    else:
        yield from _cut(case, "B", sizes.get("B", 1), [1])
    yield from _cut(case, "H", sizes["H"], [1])
    steps = sizes["T"]
    if TEXT_BOUNDS not in case.arrays:
        yield from _cut(case, "T", steps, [steps // 4, steps // 2, 3 * steps // 4, 7 * steps // 8, steps - 1])
    for width in "KV":
        yield from _cut(case, width, sizes[width], [1, sizes[width] // 4, sizes[width] // 2])


def _cut(case: Case, letter: str, size: int, sizes: list[int]) -> Iterator[Case]:
    """Cases that keep only some entries along a dimension: the first ones or, for B and H, also the last ones. `sizes`
    are the numbers of entries to keep."""
    axes = {name: case.layer.axes_of(name, array.ndim) for name, array in case.arrays.items()}
    lengths = {array.shape[axes[name].index(letter)] for name, array in case.arrays.items() if letter in axes[name]}
    if len(lengths) != 1:  # heads are shared, and only the layer knows which belong together
        return
    for smaller in sorted({n for n in sizes if 0 < n < size}):
        ends = [slice(0, smaller)] + ([slice(size - smaller, size)] if letter in "BH" else [])
        for kept in ends:
            yield case.with_arrays({n: _take(a, axes[n], letter, kept) for n, a in case.arrays.items()})


def _take(array: Any, axes: str, letter: str, kept: slice) -> Any:
    if letter not in axes:
        return array
    return np.ascontiguousarray(array[tuple(kept if a == letter else slice(None) for a in axes)])


def _fewer_texts(case: Case) -> Iterator[Case]:
    """Cases with a single one of several texts; of a case with one text, cases with fewer steps."""
    bounds = case.arrays[TEXT_BOUNDS].astype(int)
    texts = list(zip(bounds[:-1], bounds[1:]))
    if len(texts) > 1:
        for i, (begin, end) in enumerate(texts):
            if end > begin:
                yield _steps_of_text(case, i, int(begin), int(end))
        return
    length = int(bounds[1] - bounds[0])
    for fewer in sorted({length // 4, length // 2, 3 * length // 4, length - 1}):
        if 0 < fewer < length:
            yield _steps_of_text(case, 0, int(bounds[0]), int(bounds[0]) + fewer)


def _steps_of_text(case: Case, text: int, begin: int, end: int) -> Case:
    arrays: Arrays = {}
    for name, array in case.arrays.items():
        axes = case.layer.axes_of(name, array.ndim)
        if name == TEXT_BOUNDS:
            arrays[name] = np.array([0, end - begin], array.dtype)
        elif "T" in axes:
            arrays[name] = _take(array, axes, "T", slice(begin, end))
        else:  # one state per text
            arrays[name] = _take(array, axes, "B", slice(text, text + 1))
    return case.with_arrays(arrays)


_SCRIPT = '''# Repeats {test} on the smallest inputs found that fail: {sizes}.
# {said}
import sys

sys.path[:0] = {folders}
import recollect.testing as rt
from {module} import {function}

rt.repeat({function}, {inputs})
'''
_COMMAND = '''# Repeats the verdict on {test}, on the smallest inputs found that fail: {sizes}.
# {said}
import sys

sys.path[:0] = {folders}
import recollect.testing as rt

rt.saved({inputs}).check(rt.saved({computed}).arrays)  # the test itself cannot be imported: {why}
'''


def write_reproducer(case: Case, failure: CheckFailed, test: Callable[..., Any], computed: Case | None) -> Path:
    """Writes the case and a script of about ten lines, which repeats the failure, into the folder recollect-failures
    (or RECOLLECT_FAILURES). Returns the path of the script."""
    folder = Path(os.environ.get("RECOLLECT_FAILURES", "recollect-failures")).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    stem = re.sub(r"[^A-Za-z0-9_.-]", "_", f"{test.__name__}-{case.name}-{case.dtype}")
    inputs, outputs, script = (folder / f"{stem}{end}" for end in (".safetensors", ".computed.safetensors", ".py"))
    case.save(inputs)
    if computed is not None:
        computed.save(outputs)
    package = str(Path(__file__).resolve().parent.parent)
    source = inspect.getsourcefile(inspect.unwrap(test)) or ""
    why = _why_not_imported(test)
    report = failure.report
    said = "; or: ".join(report.diagnosis) or report.where or f"{report.verdict}"
    sizes = ", ".join(f"{letter}={size}" for letter, size in case.sizes().items())
    script.write_text((_COMMAND if why else _SCRIPT).format(
        test=f"{test.__name__}[{case.name}-{case.dtype}]", sizes=sizes, said=" ".join(said.split()), why=why,
        folders=json.dumps([str(Path(source).resolve().parent), package]), module=Path(source).stem,
        function=test.__name__, inputs=json.dumps(str(inputs)), computed=json.dumps(str(outputs))))  # fmt: skip
    return script


def _why_not_imported(test: Callable[..., Any]) -> str:
    function = inspect.unwrap(test)
    if "<locals>" in function.__qualname__ or "." in function.__qualname__:
        return "it is no function of a module"
    if len(inspect.signature(function).parameters) != 1:
        return "it takes fixtures"
    source = inspect.getsourcefile(function)
    return "" if source and Path(source).stem.isidentifier() else "its file has no name of a module"
