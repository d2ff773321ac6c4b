# SPDX-License-Identifier: Apache-2.0
"""Reads and writes named arrays in the safetensors format: the length of a JSON header, then the header, then the
numbers."""
from __future__ import annotations

import json
from os import PathLike
from typing import Any, Mapping

import numpy as np
from numpy.typing import NDArray

from recollect.arrays import Bfloat16, Host

_TYPES = {"F16": np.float16, "F32": np.float32, "F64": np.float64, "I32": np.int32, "I64": np.int64, "BF16": np.uint16,
          "U16": np.uint16}  # fmt: skip; U16: the bits of a bfloat16
_NAMES = {np.dtype(kind): name for name, kind in _TYPES.items() if kind != np.uint16}


def write(path: str | PathLike[str], arrays: Mapping[str, Host], metadata: Mapping[str, str] | None = None) -> None:
    """Writes arrays of the types float16, bfloat16, float32, float64, int32 and int64."""
    header: dict[str, Any] = {"__metadata__": dict(metadata)} if metadata else {}
    blocks: list[NDArray[Any]] = []
    at = 0
    for name in sorted(arrays):
        array = arrays[name]
        bits = array.bits if isinstance(array, Bfloat16) else array
        kind = "BF16" if isinstance(array, Bfloat16) else _NAMES.get(bits.dtype)
        if kind is None:
            raise TypeError(f"array {name} is of type {bits.dtype}, needs floating point, int32 or int64")
        header[name] = {"dtype": kind, "shape": list(bits.shape), "data_offsets": [at, at + bits.nbytes]}
        at += bits.nbytes
        blocks.append(bits)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for block in blocks:
            file.write(np.ascontiguousarray(block).data.cast("B") if block.size else b"")


def read(path: str | PathLike[str]) -> tuple[dict[str, NDArray[Any]], dict[str, str]]:
    """(arrays by name, metadata of the file). bfloat16 arrays become float32. ValueError for any other file."""
    with open(path, "rb") as file:
        data = file.read()
    length = int.from_bytes(data[:8], "little")
    if len(data) < 8 or length > len(data) - 8:
        raise ValueError(f"{path} is not a safetensors file, or truncated")
    header = json.loads(data[8:8 + length])
    metadata = header.pop("__metadata__", {})
    arrays = {}
    for name, entry in header.items():
        begin, end = (8 + length + offset for offset in entry["data_offsets"])
        if entry["dtype"] not in _TYPES:
            raise ValueError(f"{path}: array {name} is of type {entry['dtype']}")
        bits = np.frombuffer(data[begin:end], _TYPES[entry["dtype"]]).reshape(entry["shape"])
        arrays[name] = Bfloat16(bits).as_float32() if bits.dtype == np.uint16 else bits.copy()
    return arrays, metadata
