# SPDX-License-Identifier: Apache-2.0
"""The layer that a user's kernel computes: its name, its parameters and the convention of its arrays."""
from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import lru_cache
from os import PathLike
from typing import Any, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from recollect.worker import RecollectError, worker

TEXT_BOUNDS = "cu_seqlens"


@lru_cache(maxsize=None)
def _conventions() -> dict[str, dict[str, Any]]:
    """{name of a convention: its entry in the output of `recollect list conventions --json`}. "layer" is the layers'
    own convention."""
    listed = json.loads(worker().run(["list", "conventions", "--json"]).out)
    return {one["name"]: one for one in listed}


@lru_cache(maxsize=None)
def names_of(*arrays: str) -> frozenset[str]:
    """Every name that these arrays have in some convention. `arrays` are their names in the layer: state (the initial
    state), final_state, dfinal_state, o, do, A_log, dt_bias ..."""
    return frozenset(name for one in _conventions().values() for array in arrays for name in one["arrays"][array])


def states() -> frozenset[str]:
    """Names of the initial state."""
    return names_of("state")


def final_states() -> frozenset[str]:
    return names_of("final_state")


def state_weights() -> frozenset[str]:
    """Names of the gradient of the final state, which is an input of a backward pass."""
    return names_of("dfinal_state")


def output_weights() -> frozenset[str]:
    return names_of("do")


def parameters_of_heads() -> frozenset[str]:
    """Names of parameters of gates and of skip terms."""
    return names_of("A_log", "A", "gamma", "dt_bias", "D")


def weights() -> frozenset[str]:
    """Names of the arrays that a backward pass takes in addition to the inputs."""
    return output_weights() | state_weights()


def value_wide() -> frozenset[str]:
    """Names of arrays of width Dv. All other arrays over steps that have a width have Dk."""
    return names_of("v", "do", "o", "D", "z")


def read_sample(path: str | PathLike[str]) -> dict[str, NDArray[Any]]:
    """The arrays of a file that `recollect sample` wrote. Bounds of texts are integers."""
    with np.load(path) as file:
        return {name: array.astype(np.int64) if name == TEXT_BOUNDS else array for name, array in file.items()}


@dataclass(frozen=True)
class Layer:
    """A layer, and the flags that give `recollect sample`, `check` and `forward` the user's convention."""

    name: str
    flags: tuple[str, ...] = ()
    layout: str = "bhtd"
    state: str = "vk"
    options: tuple[tuple[str, Any], ...] = ()  # arguments of the convention's kernels that are not arrays
    types: tuple[tuple[str, str], ...] = ()  # (array, type) of arrays that do not have the type of the computation
    float32: tuple[str, ...] = ()  # arrays that kernels of the convention keep in float32 if others have 16 bits
    extra: tuple[str, ...] = ()  # D and z of Mamba's kernels, if samples have them
    without: tuple[str, ...] = ()  # optional inputs that samples do not have

    def step_axes(self) -> str:
        """The dimensions of an array over steps, without its width: the letters B, T and H in order."""
        return {"bhtd": "BHT", "bthd": "BTH", "thd": "TH"}[self.layout]

    def axes_of(self, name: str, rank: int) -> str:
        """One letter per dimension of the array: B, T, H, K (key width), V (value width), N (bounds of texts)."""
        if name == TEXT_BOUNDS:
            return "N"
        if name in parameters_of_heads():
            return ("HV" if name in value_wide() else "HK")[:rank]
        if name in states() or name in state_weights():
            return "BHKV" if self.state == "kv" else "BHVK"
        steps = self.step_axes()
        return steps if rank == len(steps) else steps + ("V" if name in value_wide() else "K")

    def type_flags(self, more: Mapping[str, str] | None = None) -> list[str]:
        """The flag `--dtype-of` with the types of the layer's arrays. Types in `more` take precedence."""
        stated = {**dict(self.types), **(more or {})}
        return ["--dtype-of", ",".join(f"{name}={kind}" for name, kind in stated.items())] if stated else []

    def sample_flags(self) -> list[str]:
        """The flags with which `recollect sample` makes samples of this layer."""
        left_out = ["--without", ",".join(self.without)] if self.without else []
        return [*self.flags, *self.type_flags(), *(["--with", ",".join(self.extra)] if self.extra else []), *left_out]

    def type_of(self, name: str, dtype: str) -> str:
        """The type of an array in a kernel that computes in `dtype`."""
        return dict(self.types).get(name, "f32" if dtype in ("bf16", "f16") and name in self.float32 else dtype)

    @property
    def facts(self) -> dict[str, Any]:
        """Output of `recollect list variants NAME --json`."""
        return _facts(self.name)

    @property
    def has_state(self) -> bool:
        state = self.facts["state"]
        return bool(state and state.get("rows"))

    @property
    def causal(self) -> bool:
        return bool(self.facts["traits"]["causal"])


@lru_cache(maxsize=None)
def _facts(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(worker().run(["list", "variants", name, "--json"]).out)[0]
    return found


def layer(
    name: str,
    *,
    convention: str | None = None,
    layout: str | None = None,
    state: str | None = None,
    scale: float | str | None = None,
    l2norm: float | None = None,
    gate: str | None = None,
    beta: str | None = None,
    parameters: Mapping[str, float | str] | None = None,
    types: Mapping[str, str] | None = None,
    extra: Sequence[str] = (),
    without: Sequence[str] = (),
    options: Mapping[str, Any] | None = None,
) -> Layer:
    """The layer `name` in the convention of the user's kernel.

    `convention` is fla, mamba, vllm or flashinfer. `layout` (bhtd, bthd, thd), `state` (vk, kv), `scale` (a number or
    "rsqrt"), `l2norm` (EPS), `gate` and `beta` mean the same as the flags of `recollect check`, and override the
    convention. `parameters` are the layer's parameters, as in `--set`. `types` maps arrays to their types, such as
    {"beta": "f32"}, if these are not the type that the kernel computes in; gates and states are float32 in any case if
    other arrays have 16 bits. `extra` names arrays that Mamba's kernels take in addition to the layer's inputs: "D",
    "z". `without` names optional inputs of the layer that the kernel does not take. `options` are passed to the kernel
    with the arrays."""
    given = {"convention": convention, "layout": layout, "state": state, "scale": scale, "l2norm": l2norm,
             "gate": gate, "beta": beta}  # fmt: skip
    flags = [word for flag, value in given.items() if value is not None for word in (f"--{flag}", str(value))]
    for key, value in (parameters or {}).items():
        flags += ["--set", f"{key}={value}"]
    known = _conventions()
    if convention is not None and convention not in known:
        raise RecollectError(f"no convention is called {convention}; there are {', '.join(known)}")
    usual_switches = known[convention or "layer"]
    wide = names_of(*(usual_switches["float32"] if convention else ("state", "alpha", "lambda")))
    made = Layer(
        name,
        tuple(flags),
        layout or usual_switches["layout"],
        state or usual_switches["state"],
        types=tuple((types or {}).items()),
        extra=tuple(extra),
        without=tuple(without),
        float32=tuple(sorted(wide | parameters_of_heads() | (state_weights() if wide & states() else frozenset()))),
    )
    usual = {"output_final_state": True} if convention == "fla" and made.has_state else {}
    return replace(made, options=tuple({**usual, **(options or {})}.items()))


def as_layer(given: str | Layer) -> Layer:
    return given if isinstance(given, Layer) else layer(given)
