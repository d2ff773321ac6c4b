# SPDX-License-Identifier: Apache-2.0
"""Tests properties of a correct kernel. A property says that the results of two runs agree: bit for bit, or within the
criterion of `recollect check`."""
from __future__ import annotations

import inspect
from dataclasses import dataclass, replace
from functools import cached_property
from types import ModuleType
from typing import Any, Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from recollect.cases import Arrays, Case, numbers
from recollect.checking import check
from recollect.layer import Layer, as_layer, final_states, names_of, read_sample, states, weights
from recollect.worker import worker

Kernel = Callable[..., Any]
Results = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Property:
    """The result for one property. `outcome` is "holds", "broken", "not applicable" or "refused" (the kernel
    raised)."""

    name: str
    outcome: str
    said: str = ""

    def __str__(self) -> str:
        return f"{self.name}: {self.outcome}" + (f": {self.said}" if self.said else "")


class NotApplicable(Exception):
    """The property does not apply to this kernel or layer. The message says why."""


class Broken(Exception):
    """The property is violated. The message says where."""


def properties(
    layer: str | Layer,
    kernel: Kernel,
    *,
    xp: ModuleType = np,
    device: Any = None,
    dtype: str = "f32",
    shape: tuple[int, int, int, int, int] = (2, 3, 65, 16, 24),
    grad: bool | None = None,
    seed: int = 1,
    skip: Sequence[str] = (),
) -> list[Property]:
    """Runs the kernel on random inputs and tests each property of PROPERTIES that is not in `skip`. `shape` is B, H, T,
    Dk, Dv. Raises an AssertionError that names every broken property. `grad` says whether gradients are tested too; the
    default is yes if `xp` is PyTorch or JAX, or if the kernel takes `do`. If the kernel raises in the test of a
    property, the property is reported as refused, which is not a failure."""
    layer = as_layer(layer)
    unknown = set(skip) - set(PROPERTIES)
    if unknown:
        raise ValueError(f"no property is called {sorted(unknown)[0]}; there are {', '.join(PROPERTIES)}")
    if grad is None:
        grad = xp.__name__.split(".")[0] in ("torch", "jax") or "do" in inspect.signature(kernel).parameters
    cases = [_sampled(layer, dtype, shape, grad, seed + i) for i in range(2)]
    trial = _Trial(kernel, xp, device, *cases)
    trial.whole = trial.run(cases[0])  # exceptions are not caught: a kernel that does not run at all is an error
    found = [_tried(name, trial) for name in PROPERTIES if name not in skip]
    broken = [str(one) for one in found if one.outcome == "broken"]
    if broken:
        raise AssertionError(f"{layer.name}: " + "\n".join(broken))
    return found


def _tried(name: str, trial: _Trial) -> Property:
    try:
        PROPERTIES[name](trial)
    except NotApplicable as why:
        return Property(name, "not applicable", str(why))
    except Broken as where:
        return Property(name, "broken", str(where))
    except Exception as refusal:  # raised by the kernel
        return Property(name, "refused", f"{type(refusal).__name__}: {refusal}".splitlines()[0])
    return Property(name, "holds")


def _sampled(layer: Layer, dtype: str, shape: tuple[int, ...], grad: bool, seed: int) -> Case:
    path = worker().folder / "property.npz"
    words = ["sample", layer.name, "--shape", ",".join(map(str, shape)), "--seed", str(seed)]
    words += [*layer.sample_flags(), "--dtype", "f32" if dtype == "tf32" else dtype, "-o", str(path)]
    words += ["--grad"] if grad else []
    worker().run(words)
    made = Case("properties", layer, dtype, read_sample(path))
    path.unlink()
    return made


class _Trial:
    """A kernel, a case, a second case of the same shape, and the kernel's results for the first case."""

    def __init__(self, kernel: Kernel, xp: ModuleType, device: Any, case: Case, other: Case) -> None:
        self.kernel, self.xp, self.device, self.case, self.other = kernel, xp, device, case, other
        self.whole: Results = {}

    def run(self, case: Case, place: Callable[[Any], Any] | None = None) -> Results:
        """The numbers of all results for a case. `place` returns an input array at another place in memory."""
        found = replace(case, place=place).run(self.kernel, self.xp, self.device)
        return {name: numbers(array) for name, array in found.items()}

    @cached_property
    def wrong(self) -> bool:
        """Whether the kernel is wrong on these inputs, by the criterion of `recollect check`."""
        return check(self.case.layer, self.case.arrays, self.whole, dtype=self.case.dtype).verdict == "WRONG"

    @property
    def spacing(self) -> float:
        """Distance of neighbouring numbers at 1 in the kernel's type."""
        return 2.0 ** -{"f64": 52, "f32": 23, "tf32": 10, "f16": 10, "bf16": 7}[self.case.dtype]

    def axes(self, name: str, array: NDArray[Any]) -> str:
        """The axes of a result, as in Layer.axes_of(). A gradient has the axes of its input."""
        layer = self.case.layer
        if name in final_states():
            return layer.axes_of("state", array.ndim)
        if name in self.case.arrays or name in names_of("o"):
            return layer.axes_of(name, array.ndim)
        return layer.axes_of(name[1:], array.ndim)


def _difference(one: Results, other: Results) -> str:
    """Says which array is the first whose numbers differ, and where; "" if all are equal."""
    for name, array in one.items():
        same = (array == other[name]) | (np.isnan(array) & np.isnan(other[name]))
        if not same.all():
            place = [int(i) for i in np.argwhere(~same)[0]]
            return f"{name} differs in {int((~same).sum())} of {same.size} numbers, first at {place}"
    return ""


def _require_same(one: Results, other: Results) -> None:
    said = _difference(one, other)
    if said:
        raise Broken(said)


def _require_same_or_right(trial: _Trial, case: Case, expected: Results, found: Results) -> None:
    """Requires `found` to equal `expected` or, because sums may be reordered, to be right by `check`. If the kernel is
    wrong even on the original case, differences up to 1000 spacings of the largest number are allowed instead."""
    said = _difference(expected, found)
    if not said:
        return
    if trial.wrong:
        spacings = {name: trial.spacing * np.nanmax(np.abs(array)) for name, array in expected.items()}
        far = any(not np.abs(expected[n] - found[n]).max() <= 1000 * size for n, size in spacings.items())
    else:
        far = check(case.layer, case.arrays, found, dtype=case.dtype).verdict == "WRONG"
    if far:
        raise Broken(said)


def deterministic(trial: _Trial) -> None:
    """Two runs give the same bits."""
    _require_same(trial.whole, trial.run(trial.case))


def causal(trial: _Trial) -> None:
    """If inputs change from step t on, including gates, the outputs before t keep their bits."""
    if not trial.case.layer.causal:
        raise NotApplicable("the layer is not causal")
    steps = trial.case.sizes()["T"]
    for t in sorted({1, steps // 2, steps - 1} - {0}):
        arrays = {}
        for name, array in trial.case.arrays.items():
            axes = trial.case.layer.axes_of(name, array.ndim)
            arrays[name] = array
            if "T" in axes:
                later = tuple(slice(t, None) if a == "T" else slice(None) for a in axes)
                arrays[name] = array.copy()
                arrays[name][later] = trial.other.arrays[name][later]
        found = trial.run(trial.case.with_arrays(arrays))
        before = tuple(slice(t) if a == "T" else slice(None) for a in trial.axes("o", found["o"]))
        said = _difference({"o": trial.whole["o"][before]}, {"o": found["o"][before]})
        if said:
            raise Broken(f"inputs from step {t} on change outputs before it: {said}")


def split(trial: _Trial) -> None:
    """If the sequence is run in two parts, and the state is passed from the first to the second, the results are those
    of the whole sequence, within the criterion of `recollect check`."""
    case = trial.case
    first = next((n for n in trial.whole if n in final_states()), None)
    given = next((n for n in case.arrays if n in states()), None)
    if first is None or given is None:
        raise NotApplicable("the layer has no state, or the kernel returns none")
    plain = case.with_arrays({n: a for n, a in case.arrays.items() if n not in weights()})
    steps = case.sizes()["T"]
    for t in sorted({1, steps // 2, steps - 1} - {0}):
        parts, state = [], plain.arrays[given]
        for kept in (slice(t), slice(t, None)):
            arrays = {n: _along(a, case.layer.axes_of(n, a.ndim), "T", kept) for n, a in plain.arrays.items()}
            found = trial.run(plain.with_arrays({**arrays, given: np.asarray(state, np.float32)}))
            parts.append(found["o"])
            state = found[first]
        whole = np.concatenate(parts, trial.axes("o", parts[0]).index("T"))
        report = check(case.layer, plain.arrays, {"o": whole, "state": state}, dtype=case.dtype)
        if report.verdict == "WRONG":
            raise Broken(f"split at step {t}: {'; or: '.join(report.diagnosis) or report.where or 'beyond rounding'}")


def heads(trial: _Trial) -> None:
    """If the heads of the inputs are permuted, the results are permuted in the same way."""
    _permuted(trial, "H")


def batch(trial: _Trial) -> None:
    """If the entries of the batch are permuted, the results are permuted in the same way."""
    _permuted(trial, "B")


def linear_in_do(trial: _Trial) -> None:
    """If do and dstate are multiplied by four, all gradients are multiplied by four, bit for bit."""
    if not trial.case.grad:
        raise NotApplicable("there are no gradients")
    scaled = {n: 4 * a if n in weights() else a for n, a in trial.case.arrays.items()}
    found = trial.run(trial.case.with_arrays(scaled))
    gradients = [n for n in trial.whole if n not in final_states() and n not in names_of("o")]
    _require_same({n: 4 * trial.whole[n] for n in gradients}, {n: found[n] for n in gradients})


def poisoned_memory(trial: _Trial) -> None:
    """Results do not change if there is NaN in the memory before and after every input array."""
    _require_same(trial.whole, trial.run(trial.case, lambda array: _poisoned(array, trial.xp)))


def strides(trial: _Trial) -> None:
    """Input arrays with other strides, and NaN in the gaps, give the same results as contiguous arrays."""
    for place in (_every_second, _transposed):
        found = trial.run(trial.case, lambda array: place(array, trial.xp))
        _require_same_or_right(trial, trial.case, trial.whole, found)


PROPERTIES: dict[str, Callable[[_Trial], None]] = {
    one.__name__: one for one in (deterministic, causal, split, heads, batch, linear_in_do, poisoned_memory, strides)
}


def _along(array: NDArray[Any], axes: str, letter: str, kept: Any) -> NDArray[Any]:
    if letter not in axes:
        return array
    return np.ascontiguousarray(array[tuple(kept if a == letter else slice(None) for a in axes)])


def _permuted(trial: _Trial, letter: str) -> None:
    case = trial.case
    sizes = {a.shape[case.layer.axes_of(n, a.ndim).index(letter)] for n, a in case.arrays.items()
             if letter in case.layer.axes_of(n, a.ndim)}  # fmt: skip
    if len(sizes) != 1 or min(sizes) < 2:
        raise NotApplicable(f"the arrays have no two entries along {letter}, or share them")
    order = np.roll(np.arange(min(sizes)), 1)
    arrays: Arrays = {n: _along(a, case.layer.axes_of(n, a.ndim), letter, order) for n, a in case.arrays.items()}
    moved = case.with_arrays(arrays)
    found = trial.run(moved)
    expected = {n: _along(a, trial.axes(n, a), letter, order) for n, a in trial.whole.items()}
    _require_same_or_right(trial, moved, expected, found)


def _filled(shape: tuple[int, ...], like: Any, xp: ModuleType) -> Any:
    """An array of NaN of `shape`, with the type of `like`."""
    if xp.__name__ == "torch":
        return xp.full(shape, float("nan"), dtype=like.dtype, device=like.device)
    if xp.__name__ == "numpy":
        return np.full(shape, np.nan, like.dtype)
    raise NotApplicable(f"{xp.__name__} leaves no choice of memory")


def _poisoned(array: Any, xp: ModuleType) -> Any:
    size, room = int(np.prod(array.shape)), 4096
    memory = _filled((size + 2 * room,), array, xp)
    memory[room:room + size] = array.reshape(-1)
    return memory[room:room + size].reshape(array.shape)


def _every_second(array: Any, xp: ModuleType) -> Any:
    memory = _filled((*array.shape[:-1], 2 * array.shape[-1]), array, xp)
    memory[..., ::2] = array
    return memory[..., ::2]


def _transposed(array: Any, xp: ModuleType) -> Any:
    """The same array, with the order of the second and third dimension exchanged in memory."""
    if len(array.shape) < 3:
        return array
    a, b, c, *rest = array.shape
    memory = _filled((a, c, b, *rest), array, xp)
    moved = memory.transpose(1, 2) if xp.__name__ == "torch" else memory.swapaxes(1, 2)
    moved[...] = array
    return moved
