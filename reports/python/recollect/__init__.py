# SPDX-License-Identifier: Apache-2.0
"""recollect from Python.

    import recollect
    r = recollect.load("r.h5")                  # result files as tidy pandas frames (needs h5py and pandas)
    y = recollect.definition("delta_net", {"q": q, "k": k, "v": v, "beta": beta})   # float64: y["o"], y["state"]
    report = recollect.check("delta_net", x, {"o": o}, dtype="bf16")                # is a kernel right?
    x = recollect.tensors("debug_inputs.pt")    # also .safetensors and .npz; python3 -m recollect x.pt x.safetensors

`recollect.testing` has functions for pytest. Arrays may be NumPy's, PyTorch's, JAX's, or anything else that has the
array protocol or __dlpack__. The program `recollect` does the work. It is taken from the environment variable
RECOLLECT, from the installation that contains this package, or from the PATH. """
from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any

from recollect.checking import Report, check, definition
from recollect.files import tensors
from recollect.layer import Layer, layer
from recollect.worker import RecollectError

if TYPE_CHECKING:
    from recollect.results import Results

__all__ = ["Layer", "RecollectError", "Report", "Results", "check", "definition", "layer", "load", "tensors"]


def load(path: str | PathLike[str], *more: str | PathLike[str]) -> Results:
    """Every table of files that `recollect run`, `verify`, `bench` or `train` wrote. Rows of several files are
    concatenated, with a column "file". ValueError for any other file."""
    from recollect.results import load as load_results  # needs h5py and pandas, which checks do not

    return load_results(path, *more)


def __getattr__(name: str) -> Any:
    if name == "Results":
        from recollect.results import Results

        return Results
    raise AttributeError(f"module 'recollect' has no attribute {name!r}")
