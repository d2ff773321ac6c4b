# SPDX-License-Identifier: Apache-2.0
"""Reads users' files of named arrays: .safetensors, .npz, and PyTorch's .pt."""
from __future__ import annotations

import os
from os import PathLike
from typing import Any

import numpy as np

from recollect import safetensors
from recollect.arrays import to_host


def tensors(path: str | PathLike[str]) -> dict[str, Any]:
    """The arrays of a .safetensors, .npz or .pt file by name. A .pt file must contain a dictionary of tensors; PyTorch
    reads it with weights_only, so no pickled code runs. ValueError for any other file."""
    ending = os.path.splitext(path)[1]
    if ending == ".safetensors":
        return dict(safetensors.read(path)[0])
    if ending == ".npz":
        with np.load(path) as file:
            return dict(file.items())
    if ending not in (".pt", ".pth"):
        raise ValueError(f"{os.fspath(path)} is no .safetensors, .npz or .pt file")
    import torch

    found = torch.load(path, map_location="cpu", weights_only=True)
    if not isinstance(found, dict) or not all(isinstance(one, torch.Tensor) for one in found.values()):
        raise ValueError(f"{os.fspath(path)} holds no dictionary of tensors: torch.save({{'q': q, ...}}, path)")
    return dict(found)


def convert(source: str | PathLike[str], target: str | PathLike[str]) -> None:
    """Writes the arrays of a file as .safetensors, which the program reads; types are kept."""
    safetensors.write(target, {name: to_host(array) for name, array in tensors(source).items()})
