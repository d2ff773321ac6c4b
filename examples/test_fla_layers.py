# SPDX-License-Identifier: Apache-2.0
"""Every kernel of flash-linear-attention that fla_layers.py knows, forward and backward, on its layer's battery:

    RECOLLECT_RECORD=record.csv python3 -m pytest test_fla_layers.py -k 'gated_delta_net and chunk'

The test of layer L and form F is test_L_F; FLA_TYPES names other types than bf16 and f32. Python must find fla (PYTHONPATH).
Without a GPU only the naive forms run: fla's own references in PyTorch, in float32.

Gates are logarithms, as in fla, and so are their gradients, fla's dg. A gate of exactly 0 has the logarithm minus infinity,
which fla does not promise to support: such a case is skipped. If the backward pass refuses a case, only the forward pass is
judged, with a warning; if that refuses it as well, the case is skipped."""
import functools
import os
import warnings

import numpy as np
import pytest

import recollect.testing as rt

torch = pytest.importorskip("torch", reason="no PyTorch here: fla's kernels were not tried")

from fla_layers import DEVICE, DTYPES, KERNELS, LEFT_OUT, SETTINGS, Inputs, take_first_configuration  # noqa: E402

os.environ["TRITON_F32_DEFAULT"] = "ieee"  # multiplies float32 in float32, not in the tensor cores' TF32
GATES = ("alpha", "lambda")
if DEVICE == "cuda":
    take_first_configuration()


def kernel_test(layer, form):
    call, load = KERNELS[layer][form]
    load = functools.cache(load)  # loads on the first case
    types = ["f32"] if form == "naive" else os.environ.get("FLA_TYPES", "bf16,f32").split(",")

    @rt.cases(rt.layer(layer, gate="log", without=LEFT_OUT.get(layer, ())), dtypes=types, grad=True, shrink_seconds=0)
    def test(case):
        if any(np.isneginf(case.arrays[name]).any() for name in GATES if name in case.arrays):
            pytest.skip("a gate of exactly 0")
        try:
            judge(case, call, load())
        except RuntimeError as refusal:  # including NotImplementedError
            if "CUDA error" in str(refusal):
                raise
            judge(case.forward_only(), call, load(), refused=True)
            warnings.warn("forward alone: " + " ".join(str(refusal).split())[:150])

    return test


def judge(case, call, kernel, refused=False):
    x = Inputs(case.arrays, DTYPES[case.dtype], SETTINGS, log_gates=True)
    try:
        with torch.set_grad_enabled(case.grad):
            o, state = call(kernel, x)
    except (RuntimeError, AssertionError, ValueError) as refusal:  # the last two state what fla supports
        if refused:
            pytest.skip(f"the kernel takes no such case: {refusal}")
        raise RuntimeError(str(refusal)) from None
    if case.grad and not o.requires_grad:
        raise NotImplementedError("the kernel has no backward pass")
    if x.zero_gate:
        pytest.skip("a gate of exactly 0")
    case.check((o.transpose(1, 2), None if state is None else state.transpose(2, 3)), leaves=x.leaves)


LAYERS = os.environ.get("FLA_LAYERS", ",".join(KERNELS)).split(",")
for name in LAYERS:
    for kind in KERNELS[name]:
        if (DEVICE == "cuda") == (kind != "naive"):
            globals()[f"test_{name}_{kind}"] = kernel_test(name, kind)
