# SPDX-License-Identifier: Apache-2.0
"""A layer as a user's kernel has it: its name, parameters and convention."""
from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import lru_cache
from os import PathLike
from typing import Any, Mapping

import numpy as np
from numpy.typing import NDArray

from recollect.worker import worker

# Arrays that are not over steps, under every name that a convention has for them.
STATES = ("state", "initial_state", "h0", "initial_states")
STATE_WEIGHTS = ("dstate", "dht", "dfinal_state", "dfinal_states")
OUTPUT_WEIGHTS = ("do", "dout")
GATE_PARAMETERS = ("A_log", "A", "gamma", "g_gamma", "dt_bias")
TEXT_BOUNDS = "cu_seqlens"
VALUES = ("v", "x", "do", "dout", "o", "out")  # of width Dv; every other array over steps that has a width has Dk


def read_sample(path: str | PathLike[str]) -> dict[str, NDArray[Any]]:
    """The arrays of a file that `recollect sample` wrote, bounds of texts as integers."""
    with np.load(path) as file:
        return {name: array.astype(np.int64) if name == TEXT_BOUNDS else array for name, array in file.items()}


@dataclass(frozen=True)
class Layer:
    """A layer's name and the flags that `recollect sample`, `check` and `forward` take for the user's convention."""

    name: str
    flags: tuple[str, ...] = ()
    layout: str = "bhtd"
    state: str = "vk"
    options: tuple[tuple[str, Any], ...] = ()  # arguments that the kernels of a convention take beside arrays

    def step_axes(self) -> str:
        """The dimensions of an array over steps before its width: a letter each of B, T, H."""
        return {"bhtd": "BHT", "bthd": "BTH", "thd": "TH"}[self.layout]

    def axes_of(self, name: str, rank: int) -> str:
        """A letter a dimension of the array: B, T, H, K (key width), V (value width), N (bounds of texts)."""
        if name == TEXT_BOUNDS:
            return "N"
        if name in GATE_PARAMETERS:
            return "HK"[:rank]
        if name in STATES or name in STATE_WEIGHTS:
            return "BHKV" if self.state == "kv" else "BHVK"
        steps = self.step_axes()
        return steps if rank == len(steps) else steps + ("V" if name in VALUES else "K")

    @property
    def facts(self) -> dict[str, Any]:
        """What `recollect list variants NAME --json` says of it."""
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
    options: Mapping[str, Any] | None = None,
) -> Layer:
    """The layer `name` in the convention of the user's kernel.

    `convention` is fla, mamba, vllm or flashinfer; `layout` (bhtd, bthd, thd), `state` (vk, kv), `scale` (a number or
    "rsqrt"), `l2norm` (EPS), `gate` and `beta` are the flags of `recollect check`, and take precedence over it.
    `parameters` are the layer's own, as in `--set`. `options` are passed to the kernel beside the arrays.
    """
    given = {"convention": convention, "layout": layout, "state": state, "scale": scale, "l2norm": l2norm,
             "gate": gate, "beta": beta}  # fmt: skip
    flags = [word for flag, value in given.items() if value is not None for word in (f"--{flag}", str(value))]
    for key, value in (parameters or {}).items():
        flags += ["--set", f"{key}={value}"]
    if layout is None:
        layout = {None: "bhtd", "flashinfer": "thd"}.get(convention, "bthd")
    if state is None:
        state = "kv" if convention == "fla" else "vk"
    made = Layer(name, tuple(flags), layout, state)
    usual = {"output_final_state": True} if convention == "fla" and made.has_state else {}
    return replace(made, options=tuple({**usual, **(options or {})}.items()))


def as_layer(given: str | Layer) -> Layer:
    return given if isinstance(given, Layer) else layer(given)
