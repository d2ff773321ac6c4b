# SPDX-License-Identifier: Apache-2.0
"""Compares a kernel's results with the float64 definition, or computes the definition."""
from __future__ import annotations

import itertools
import json
import re
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from recollect import safetensors
from recollect.arrays import to_host
from recollect.layer import Layer, as_layer, output_weights
from recollect.worker import RecollectError, worker

_counter = itertools.count()


@dataclass(frozen=True)
class Report:
    """Result of `recollect check`."""

    verdict: str  # "right", "WRONG" or "cannot decide"
    parts: Mapping[str, Any]  # for each array: verdict, worst row and head in units of noise, limits, place
    not_checked: tuple[str, ...]  # arrays that the layer computes but the kernel did not return
    diagnosis: tuple[str, ...]  # the known mistakes that explain a wrong result
    where: str
    reason: str  # why `check` cannot decide
    text: str  # the whole report, for reading
    texts: tuple[Mapping[str, Any], ...] = ()  # for each packed text: `from` and `to` (its steps), verdict

    @property
    def right(self) -> bool:
        return self.verdict == "right"

    def __str__(self) -> str:
        return self.text


def check(
    layer: str | Layer,
    inputs: Mapping[str, Any],
    results: Mapping[str, Any],
    *,
    dtype: str = "f32",
    chunk: int | None = None,
    types: Mapping[str, str] | None = None,
) -> Report:
    """Compares a kernel's `results` on `inputs` with the float64 definition. Results are any of o, the final state and
    gradients, with their names in the layer's convention. Gradients are judged if `inputs` has the output gradient
    `do`; it may also have `dstate`, the gradient of the final state. `dtype` is the type that the kernel computes in:
    f64, f32, tf32, f16 or bf16. `chunk` is the number of steps from one rounding of the state to the next. `types` maps
    arrays to their types, if these are not `dtype`; the default is the layer's types and, if some array has 16 bits,
    the types of the arrays themselves. RecollectError if arrays do not fit the layer."""
    layer = as_layer(layer)
    given = _on_host(inputs)
    words = ["check", layer.name, "--dtype", dtype, *layer.flags]
    words += layer.type_flags(types)
    words += ["--grad"] if output_weights() & set(given) else []
    words += [] if chunk is None else ["--chunk", str(chunk)]
    with _scratch() as path:
        safetensors.write(path("in"), given)
        safetensors.write(path("out"), _on_host(results))
        report = path("json")
        answer = worker().run([*words, "-i", str(path("in")), "-c", str(path("out")), "--json", str(report)])
        found = json.loads(report.read_text())
    text = "\n".join(line for line in answer.out.splitlines() if not line.startswith("recollect check "))
    return Report(found["verdict"], found["parts"], tuple(found["not_checked"]), tuple(found["diagnosis"]),
                  found["where"], found["reason"], text, tuple(found["texts"]))  # fmt: skip


def definition(layer: str | Layer, inputs: Mapping[str, Any]) -> dict[str, NDArray[np.float64]]:
    """Outputs, final state and, if the inputs have `do` (and perhaps `dstate`), gradients. They are computed in float64
    by the recurrent form, and are in the layer's convention."""
    layer = as_layer(layer)
    given = _on_host(inputs)
    words = ["forward", layer.name, "--form", "recurrent", "--dtype", "f64", *layer.flags]
    words += ["--gradient"] if output_weights() & set(given) else []
    with _scratch() as path:
        safetensors.write(path("in"), given)
        worker().run([*words, "-i", str(path("in")), "-o", str(path("out"))])
        return safetensors.read(path("out"))[0]


def _on_host(arrays: Mapping[str, Any]) -> dict[str, Any]:
    return {name: to_host(array) for name, array in arrays.items() if array is not None}


class _Paths:
    def __init__(self) -> None:
        self._stem = worker().folder / str(next(_counter))

    def __call__(self, what: str) -> Path:
        return self._stem.with_suffix(".json" if what == "json" else f".{what}.safetensors")

    def __str__(self) -> str:
        return str(self._stem)

    def remove(self) -> None:
        for what in ("in", "out", "json"):
            self(what).unlink(missing_ok=True)


@contextmanager
def _scratch() -> Iterator[_Paths]:
    """Names for the files of one command. The files are removed when the command is finished."""
    paths = _Paths()
    try:
        yield paths
    except RecollectError as failure:  # removes the temporary file's name from the message
        raise RecollectError(re.sub(f"{re.escape(str(paths))}[^ ]*: ", "", str(failure))) from None
    finally:
        paths.remove()
