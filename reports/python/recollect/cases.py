# SPDX-License-Identifier: Apache-2.0
"""One case of a battery: inputs for a kernel, and the verdict on the kernel's results."""
from __future__ import annotations

import inspect
import json
import os
import re
import sys
from dataclasses import asdict, dataclass, field, replace
from os import PathLike
from types import ModuleType
from typing import Any, Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from recollect import safetensors
from recollect.arrays import Bfloat16, framework_of, from_host, to_host, type_name
from recollect.checking import Report, check
from recollect.layer import Layer, final_states, output_weights, state_weights, weights

Arrays = dict[str, NDArray[Any]]


class CheckFailed(AssertionError):
    """A kernel is wrong. `report` says where the errors are and which known mistake explains them."""

    def __init__(self, message: str, report: Report) -> None:
        super().__init__(message)
        self.report = report


class Undecided(AssertionError):
    """There is no verdict, because rounding in the type is as large as the values, so that zeros would pass."""


@dataclass
class Case:
    """Inputs in the convention of `layer`, and the type that the kernel claims to compute in."""

    name: str
    layer: Layer
    dtype: str
    arrays: Arrays = field(repr=False)  # inputs and, for gradients, do and dstate
    shrunk: bool = field(default=False, repr=False)  # derived from a case that failed
    computed: dict[str, Any] | None = field(default=None, repr=False)  # the results that check() judged last
    place: Callable[[Any], Any] | None = field(default=None, repr=False)  # returns an array at another place in memory
    _leaves: dict[str, Any] = field(default_factory=dict, repr=False)  # arrays that inputs() made
    _types: dict[str, str] = field(default_factory=dict, repr=False)  # types of the arrays that inputs() made

    @property
    def grad(self) -> bool:
        return any(name in self.arrays for name in output_weights())

    def sizes(self) -> dict[str, int]:
        """B, H, T, K and V; H is the largest number of heads."""
        sizes: dict[str, int] = {}
        for name, array in self.arrays.items():
            for letter, size in zip(self.layer.axes_of(name, array.ndim), array.shape):
                sizes[letter] = max(size, sizes.get(letter, 0))
        sizes.pop("N", None)
        return sizes

    def inputs(
        self, xp: ModuleType = np, device: Any = None, types: Mapping[str, str] | None = None
    ) -> dict[str, Any]:
        """The arguments of the kernel, by name, as arrays of `xp` (the module numpy, torch or jax). They have the type
        of the case, with these exceptions: gates and states are float32 if other arrays have 16 bits; the layer's
        `types` and the argument `types`, such as {"beta": "f32"}, set the types of other arrays. In PyTorch the arrays
        require gradients if the case asks for gradients. The options of the layer's convention are included."""
        made = self._made({n: a for n, a in self.arrays.items() if n not in weights()}, xp, device, types or {})
        self._types = {n: kind for n, a in made.items() if (kind := type_name(a)) is not None}
        if self.grad and xp.__name__.split(".")[0] == "torch":
            for array in made.values():
                if array.is_floating_point():
                    array.requires_grad_()
        self._leaves = made
        return {**made, **dict(self.layer.options)}

    def weights(
        self, xp: ModuleType = np, device: Any = None, types: Mapping[str, str] | None = None
    ) -> dict[str, Any]:
        """The gradient of the outputs (do) and, if there is a final state, the gradient of the final state. For kernels
        that compute gradients themselves."""
        return self._made({n: a for n, a in self.arrays.items() if n in weights()}, xp, device, types or {})

    def _made(self, arrays: Arrays, xp: ModuleType, device: Any, types: Mapping[str, str]) -> dict[str, Any]:
        usual = {name: self.layer.type_of(name, self.dtype) for name in arrays}
        made = {name: from_host(array, xp, types.get(name, usual[name]), device) for name, array in arrays.items()}
        return {name: self.place(array) for name, array in made.items()} if self.place else made

    def run(self, kernel: Callable[..., Any], xp: ModuleType = np, device: Any = None) -> dict[str, Any]:
        """Results of the kernel, with gradients if the case asks for them. PyTorch or JAX computes the gradients,
        unless the kernel takes do (and dstate) and returns a dictionary that has them."""
        given = self.inputs(xp, device)
        if not self.grad:
            return results_of(kernel(**given))
        if xp.__name__.split(".")[0] == "jax":
            return self._run_jax(kernel, given)
        taken = inspect.signature(kernel).parameters
        found = results_of(kernel(**given, **{n: w for n, w in self.weights(xp, device).items() if n in taken}))
        return self._with_gradients(found)

    def _run_jax(self, kernel: Callable[..., Any], given: dict[str, Any]) -> dict[str, Any]:
        jax = sys.modules["jax"]
        floats = {n: a for n, a in given.items() if hasattr(a, "dtype") and a.dtype.kind not in "iu"}
        rest = {n: a for n, a in given.items() if n not in floats}
        found, back = jax.vjp(lambda leaves: results_of(kernel(**leaves, **rest)), floats)
        (gradients,) = back({n: _weight_of(n, self.weights(sys.modules["jax.numpy"]), a) for n, a in found.items()})
        return {**found, **{f"d{name}": array for name, array in gradients.items()}}

    def check(self, results: Any, leaves: Mapping[str, Any] | None = None) -> Report:
        """Judges the kernel's results: o, (o, state, ...), or a dictionary that also has gradients. If the results are
        tensors of PyTorch that require gradients, runs the backward pass, with respect to the arrays that inputs() made
        or to `leaves`. Raises CheckFailed if results are wrong; its report says where, and which mistake explains them.
        If rounding leaves nothing to decide, skips the test in pytest, and raises Undecided elsewhere."""
        __tracebackhide__ = True
        self._leaves = dict(leaves) if leaves is not None else self._leaves
        found = results_of(results)
        given = dict(self.arrays)
        if self.grad:
            found = self._with_gradients(found)
            if not any(name in found for name in final_states()):  # the gradient of the final state was not used
                given = {name: array for name, array in given.items() if name not in state_weights()}
        self.computed = found
        narrow = any(kind in ("bf16", "f16") for kind in self._types.values())  # float32 may hold bf16 numbers
        report = check(self.layer, given, found, dtype=self.dtype, types=self._types if narrow else None)
        if not self.shrunk:
            self._record(report)
        if report.verdict == "WRONG":
            raise CheckFailed(f"{self.layer.name}, case {self.name} ({self.dtype}):\n{report}", report)
        if not report.right:
            undecided = f"{self.name}: cannot decide: {report.reason}"
            if "pytest" in sys.modules and not self.shrunk:
                sys.modules["pytest"].skip(undecided)
            raise Undecided(undecided)
        return report

    def _record(self, report: Report) -> None:
        """Appends a line per judged array to the CSV file that the environment variable RECOLLECT_RECORD names."""
        path = os.environ.get("RECOLLECT_RECORD")
        if not path:
            return
        test = os.environ.get("PYTEST_CURRENT_TEST", "").split("::")[-1].split("[")[0]
        new = not os.path.exists(path)
        with open(path, "a", encoding="utf-8") as file:
            file.write("layer,form,type,case,part,row,head,verdict\n" if new else "")
            for name, part in report.parts.items():
                if part["checked"]:
                    row, head = (part[of] if part[of] is not None else "inf" for of in ("row", "head"))
                    array = part.get("definition", name)
                    words = (self.layer.name, test, self.dtype, self.name, array, row, head, part["verdict"])
                    file.write(",".join(map(str, words)) + "\n")

    def _with_gradients(self, found: dict[str, Any]) -> dict[str, Any]:
        if any(re.match("d[A-Za-z]", name) for name in found):
            return found
        outputs = {n: a for n, a in found.items() if framework_of(a) == "torch" and a.requires_grad}
        if not outputs:
            raise ValueError("the case has gradients, and the results neither have any nor require them: "
                             "give case.inputs(torch), or case.run(kernel, jax), or return dq, dk, ...")  # fmt: skip
        torch = sys.modules["torch"]
        leaves = {n: a for n, a in self._leaves.items() if a.requires_grad}
        device = next(iter(leaves.values())).device
        factors = self.weights(torch, device)
        given = [_weight_of(name, factors, array) for name, array in outputs.items()]
        grads = torch.autograd.grad(list(outputs.values()), list(leaves.values()), given, allow_unused=True)
        zero = torch.zeros_like  # an optimiser treats a missing gradient as zero
        made = {f"d{n}": zero(a) if g is None else g for (n, a), g in zip(leaves.items(), grads)}
        return {**found, **made}

    def forward_only(self) -> Case:
        """The same case without gradients, for kernels that have no backward pass."""
        return self.with_arrays({n: a for n, a in self.arrays.items() if n not in weights()})

    def save(self, path: str | PathLike[str]) -> None:
        """Writes the case; saved() reads it."""
        about = {"name": self.name, "dtype": self.dtype, "layer": json.dumps(asdict(self.layer))}
        safetensors.write(path, dict(self.arrays), about)

    def with_arrays(self, arrays: Arrays) -> Case:
        """The same case with other arrays."""
        return replace(self, arrays=arrays, computed=None, _leaves={}, _types={})


def _weight_of(name: str, given: Mapping[str, Any], like: Any) -> Any:
    """The gradient of the output `name`, among the arrays `given`, in the type of the output `like`; zeros if there is
    none."""
    names = state_weights() if name in final_states() else output_weights()
    weight = next((w for n, w in given.items() if n in names), None)
    if weight is None:
        return like * 0
    return weight.to(like.dtype) if framework_of(like) == "torch" else weight.astype(like.dtype)


def results_of(returned: Any) -> dict[str, Any]:
    """The results of a kernel by name. `returned` is o, (o, state, ...) or a dictionary."""
    if isinstance(returned, Mapping):
        return {name: array for name, array in returned.items() if array is not None}
    if not isinstance(returned, (tuple, list)):
        return {"o": returned}
    return {name: array for name, array in zip(("o", "state"), returned) if array is not None}


def saved(path: str | PathLike[str]) -> Case:
    """Reads the case that save() wrote."""
    arrays, about = safetensors.read(path)
    f = json.loads(about["layer"])
    options = tuple((name, value) for name, value in f["options"])
    types = tuple((name, kind) for name, kind in f.get("types", ()))
    layer = Layer(f["name"], tuple(f["flags"]), f["layout"], f["state"], options, types, tuple(f.get("float32", ())),
                  tuple(f.get("extra", ())), tuple(f.get("without", ())))  # fmt: skip
    return Case(about["name"], layer, about["dtype"], arrays)


def numbers(array: Any) -> NDArray[Any]:
    """The numbers of an array, for comparisons: bfloat16 as float32, other types unchanged."""
    host = to_host(array)
    return host.as_float32() if isinstance(host, Bfloat16) else host
