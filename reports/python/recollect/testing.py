# SPDX-License-Identifier: Apache-2.0
"""Tests a kernel in pytest.

    import recollect.testing as rt

    GDN = rt.layer("gated_delta_net", convention="fla")

    @rt.cases(GDN, dtypes=["f32", "bf16"], state=[None, "given"], grad=True)
    def test_gdn(case):
        x = case.inputs(torch, device="cuda")
        case.check(chunk_gated_delta_rule(**x))
"""
from __future__ import annotations

import atexit
import fnmatch
import functools
import os
import shutil
import tempfile
from os import PathLike
from pathlib import Path
from typing import Any, Callable, Mapping, Sequence

from recollect.arrays import to_float64
from recollect.cases import Case, CheckFailed, Undecided, saved
from recollect.checking import Report, check
from recollect.layer import Layer, as_layer, layer, read_sample, states
from recollect.properties import Property, properties
from recollect.shrink import smallest, write_reproducer
from recollect.worker import worker

__all__ = ["Case", "CheckFailed", "Layer", "Property", "Report", "Undecided", "assert_close", "battery", "cases",
           "layer", "properties", "repeat", "saved"]  # fmt: skip

Test = Callable[..., Any]


def cases(
    layer: str | Layer,
    *,
    dtypes: Sequence[str] = ("f32",),
    state: Sequence[str | None] | None = None,
    grad: bool = False,
    varlen: bool = False,
    only: str = "*",
    seed: int = 1,
    shrink_seconds: float = 20.0,
) -> Callable[[Test], Test]:
    """A decorator that runs a test for each case of the layer's battery in each type, with ids such as
    T130-gates01-S0-bf16.

    With `state` = [None], every case starts from the layer's own initial state; with ["given"], only cases that give a
    state are taken; the default is both kinds. `varlen` adds cases of packed texts (cu_seqlens), some with an empty
    text and padding. `only` is a pattern for names of cases. If a case fails, two files are written into
    recollect-failures/: the smallest inputs that still fail, and a script that repeats the failure. The search for
    smaller inputs ends after `shrink_seconds`; with 0 there is none."""
    import pytest

    made = [one for dtype in dtypes for one in battery(layer, dtype, grad=grad, varlen=varlen, state=state, seed=seed)]
    made = [one for one in made if fnmatch.fnmatch(one.name, only)]
    if not made:
        raise ValueError(f"no case of the battery of {as_layer(layer).name} is called {only}")

    def decorate(test: Test) -> Test:
        @functools.wraps(test)
        def run(case: Case, *args: Any, **fixtures: Any) -> None:
            __tracebackhide__ = True  # pytest then shows only the test's lines and the message
            try:
                test(case, *args, **fixtures)
            except CheckFailed as failure:
                again: Test = functools.partial(_with, test, args, fixtures)
                explained = _explained(failure, case, test, again, shrink_seconds)
                raise explained.with_traceback(failure.__traceback__) from None

        marked: Test = pytest.mark.parametrize("case", made, ids=[f"{one.name}-{one.dtype}" for one in made])(run)
        return marked

    return decorate


def _with(test: Test, args: Sequence[Any], fixtures: Mapping[str, Any], case: Case) -> None:
    test(case, *args, **fixtures)


def _explained(failure: CheckFailed, case: Case, test: Test, attempt: Test, seconds: float) -> CheckFailed:
    small, again = smallest(case, failure, attempt, seconds) if seconds > 0 else (case, failure)
    results = small.computed or {}
    computed = small.with_arrays({name: to_float64(array) for name, array in results.items()}) if results else None
    script = write_reproducer(small, again, test, computed)
    sizes = ", ".join(f"{letter}={size}" for letter, size in small.sizes().items())
    lines = again.report.text.splitlines()
    told = "\n".join(f"  {line}" for line in lines if line.startswith(("where", "diagnosis")))
    said = f"{failure}\nsmallest inputs that fail: {sizes}\n{told}\nrepeat: python3 {_from_here(script)}"
    return CheckFailed(said, failure.report)


def _from_here(path: Path) -> str:
    """The path, relative to the working directory if it lies below this directory."""
    return os.path.relpath(path) if Path.cwd() in path.parents else str(path)


def repeat(test: Test, path: str | PathLike[str]) -> None:
    """Runs a test decorated by cases() on a saved case."""
    inner = getattr(test, "__wrapped__", test)
    inner(saved(path))


_folders: dict[tuple[Any, ...], Path] = {}


def battery(
    layer: str | Layer,
    dtype: str = "f32",
    *,
    grad: bool = False,
    varlen: bool = False,
    state: Sequence[str | None] | None = None,
    seed: int = 1,
) -> list[Case]:
    """The cases of `recollect sample NAME --battery`, in the layer's convention. The arguments are those of cases()."""
    layer = as_layer(layer)
    stored = "f32" if dtype == "tf32" else dtype
    words = ["sample", layer.name, "--dtype", stored, "--seed", str(seed), *layer.sample_flags()]
    words += ["--grad"] if grad else []
    found = _sampled(layer, dtype, [*words, "--battery"])
    for name, (shape, kind, texts) in PACKED.items() if varlen else ():
        found += _sampled(layer, dtype, [*words, "--shape", shape, "--kind", kind, "--texts", texts, "-o"], name)
    return [case for one in found for case in _as_wanted(one, state)]


PACKED = {  # name -> B,H,T,Dk,Dv; kind of sample; lengths of the texts. Steps after the last text belong to no text
    "T200-texts-S0": ("1,2,200,64,48", "random", "1,63,64,65,7"),
    "T150-texts-empty-padded-S0": ("1,3,150,48,60", "random", "70,0,65"),
    "T130-texts-strong-S0": ("1,2,130,64,64", "strong-decay", "2,128"),
}


def _sampled(layer: Layer, dtype: str, words: list[str], name: str = "") -> list[Case]:
    """The cases that the command `words` writes. The command gets the path of a folder or, with `name`, of a file."""
    folder = _folders.get((*words, name))
    if folder is None:
        folder = _folders[(*words, name)] = Path(tempfile.mkdtemp(prefix="recollect-battery-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        worker().run([*words, str(folder / f"{name}.npz" if name else folder)])
    found = []
    for path in sorted(folder.glob("*.npz"), key=lambda p: (_steps(p.stem), p.stem)):
        found.append(Case(path.stem, layer, dtype, read_sample(path)))
    return found


def _steps(name: str) -> int:
    digits = name.split("-")[0].lstrip("T")
    return int(digits) if digits.isdigit() else 0


def _as_wanted(case: Case, state: Sequence[str | None] | None) -> list[Case]:
    given = any(name in states() for name in case.arrays)
    if state is None or (given and "given" in state) or (not given and None in state):
        return [case]
    if given and None in state:  # the case is kept without its state, for its other inputs
        arrays = {name: array for name, array in case.arrays.items() if name not in states()}
        return [Case(case.name.replace("-S0", "-noS0"), case.layer, case.dtype, arrays)]
    return []


def assert_close(
    layer: str | Layer,
    inputs: Mapping[str, Any],
    *,
    o: Any = None,
    state: Any = None,
    grads: Mapping[str, Any] | None = None,
    dtype: str = "f32",
    do: Any = None,
    dstate: Any = None,
) -> Report:
    """Compares a kernel's results on `inputs` with the float64 definition. Raises CheckFailed if results are wrong, and
    Undecided if rounding leaves nothing to decide. `grads` {name of an input: gradient} are gradients of <do, o> +
    <dstate, state>. `do` may also be among the inputs. If the gradients come from o.sum().backward(), `do` is all
    ones."""
    weights = {name: array for name, array in (("do", do), ("dstate", dstate)) if array is not None}
    known = {n: a for n, a in {**inputs, **weights}.items() if n not in dict(as_layer(layer).options)}
    if grads and "do" not in known and "dout" not in known:
        raise ValueError("grads need do, what o was multiplied by: do=torch.ones_like(o) after o.sum().backward()")
    found = {"o": o, "state": state, **{f"d{name}": array for name, array in (grads or {}).items()}}
    report = check(layer, known, {n: a for n, a in found.items() if a is not None}, dtype=dtype)
    if report.verdict == "WRONG":
        raise CheckFailed(str(report), report)
    if not report.right:
        raise Undecided(f"cannot decide: {report.reason}")
    return report
