# SPDX-License-Identifier: Apache-2.0
"""Converts arrays of NumPy, PyTorch, JAX and others to host arrays, and back."""
from __future__ import annotations

import sys
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Union

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Bfloat16:
    """The bits of bfloat16 numbers, for which NumPy has no type."""

    bits: NDArray[np.uint16]

    def as_float32(self) -> NDArray[np.float32]:
        return (self.bits.astype(np.uint32) << 16).view(np.float32)


Host = Union[NDArray[Any], Bfloat16]

_TORCH_NAMES = {"f64": "float64", "f32": "float32", "tf32": "float32", "f16": "float16", "bf16": "bfloat16"}


def framework_of(array: Any) -> str:
    """The package that defines the array's type: "torch", "jax", "numpy" or another."""
    package = type(array).__module__.split(".")[0]
    return "jax" if package == "jaxlib" else package


def to_host(array: Any) -> Host:
    """The array on the host. Floating-point arrays keep their type, and integers become int64; uint16 is read as the
    bits of bfloat16. TypeError if `array` is not an array of numbers."""
    if framework_of(array) == "torch":
        return _torch_to_host(array)
    if hasattr(array, "__array__") or hasattr(array, "__array_interface__"):
        host = np.asarray(array)
    elif hasattr(array, "__dlpack__"):
        host = np.from_dlpack(array)
    else:
        host = np.asarray(array)
    if host.dtype.name in ("bfloat16", "uint16") or host.dtype == np.dtype("V2"):
        return Bfloat16(host.view(np.uint16))
    if host.dtype.kind in "iu":
        return host.astype(np.int64)
    if host.dtype.kind != "f":
        raise TypeError(f"an array of type {host.dtype}, needs numbers")
    return host


def _torch_to_host(tensor: Any) -> Host:
    torch = sys.modules["torch"]
    tensor = tensor.detach().cpu().contiguous()
    if tensor.dtype == torch.bfloat16:
        return Bfloat16(tensor.view(torch.int16).numpy().view(np.uint16))
    return to_host(tensor.numpy())


def type_name(array: Any) -> str | None:
    """The array's type: f64, f32, f16 or bf16; None for integers and for objects that are not arrays."""
    names = {"float64": "f64", "float32": "f32", "float16": "f16", "bfloat16": "bf16"}
    return names.get(str(getattr(array, "dtype", "")).rpartition(".")[2])


def to_float64(array: Any) -> NDArray[np.float64]:
    """The numbers of any array, converted to float64."""
    host = to_host(array)
    return np.asarray(host.as_float32() if isinstance(host, Bfloat16) else host, np.float64)


def from_host(values: NDArray[Any], xp: ModuleType, dtype: str, device: Any = None) -> Any:
    """The numbers as an array of the framework `xp`, which is the module numpy, torch or jax, or any module with
    `asarray`. `dtype` is f64, f32, tf32 (stored as float32), f16 or bf16. Integers become int64, or int32 in JAX. In
    NumPy, bf16 is bfloat16 if ml_dtypes is installed, else float32."""
    name = xp.__name__.split(".")[0]
    whole = values.dtype.kind in "iu"
    if name == "torch":
        kind = getattr(xp, "int64" if whole else _TORCH_NAMES[dtype])
        return xp.from_numpy(np.array(values)).to(device=device, dtype=kind)
    if name == "jax":
        jnp = sys.modules["jax.numpy"]
        made = jnp.asarray(np.array(values), dtype="int32" if whole else _TORCH_NAMES[dtype])
        return made if device is None else sys.modules["jax"].device_put(made, device)
    host = np.array(values, np.int64 if whole else _numpy_type(dtype))
    return host if name == "numpy" else xp.asarray(host)


def _numpy_type(dtype: str) -> Any:
    if dtype != "bf16":
        return np.dtype(_TORCH_NAMES[dtype])
    try:
        import ml_dtypes
    except ImportError:
        return np.dtype("float32")
    return np.dtype(ml_dtypes.bfloat16)
