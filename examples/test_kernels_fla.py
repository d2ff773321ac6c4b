# SPDX-License-Identifier: Apache-2.0
"""Kernels of flash-linear-attention as its users call them, on the battery and on packed texts:

    pytest test_kernels_fla.py

test_fla_layers.py has every other layer of fla, with what it takes to call them."""
import numpy as np
import pytest

import recollect.testing as rt

torch = pytest.importorskip("torch", reason="no PyTorch here: fla's kernels were not tried")
if not torch.cuda.is_available():
    pytest.skip("no GPU here: fla's kernels were not tried", allow_module_level=True)
pytest.importorskip("fla", reason="no fla here: name its checkout in PYTHONPATH")

from fla.ops.delta_rule import chunk_delta_rule, fused_recurrent_delta_rule  # noqa: E402
from fla.ops.gated_delta_rule import chunk_gated_delta_rule, fused_recurrent_gated_delta_rule  # noqa: E402
from fla.ops.linear_attn import chunk_linear_attn  # noqa: E402

DELTA, GATED, LINEAR = (rt.layer(name, convention="fla") for name in ("delta_net", "gated_delta_net", "linear"))
FORWARD = dict(dtypes=["bf16", "f32"], varlen=True)
BACKWARD = dict(FORWARD, grad=True)
REFUSALS = ("does not support float32", "Backward pass is not implemented", "Please upgrade Triton")


def checked(kernel, case, **options):
    """Checks outputs, and gradients where the case has any. Skips, with fla's reason, what fla refuses."""
    if any(np.isneginf(array).any() for array in case.arrays.values()):
        pytest.skip("a gate of exactly 0, whose logarithm fla does not promise to take")
    try:
        case.check(kernel(**case.inputs(torch, "cuda"), **options))
    except Exception as refusal:
        if not any(words in str(refusal) for words in REFUSALS):
            raise
        pytest.skip(f"fla refuses: {refusal}")


@pytest.mark.parametrize("kernel", [chunk_gated_delta_rule, fused_recurrent_gated_delta_rule])
@rt.cases(GATED, **FORWARD)
def test_gated_delta_rule(case, kernel):
    checked(kernel, case)


@rt.cases(GATED, **BACKWARD)
def test_gradients_of_gated_delta_rule(case):
    checked(chunk_gated_delta_rule, case)


@pytest.mark.parametrize("kernel", [chunk_delta_rule, fused_recurrent_delta_rule])
@rt.cases(DELTA, **BACKWARD)
def test_delta_rule(case, kernel):
    checked(kernel, case)


@rt.cases(LINEAR, **BACKWARD)
def test_linear_attention(case):
    checked(chunk_linear_attn, case, normalize=False)


@pytest.mark.parametrize("layer, kernel", [(GATED, chunk_gated_delta_rule), (DELTA, chunk_delta_rule)])
def test_properties(layer, kernel):
    rt.properties(layer, kernel, xp=torch, device="cuda", dtype="bf16", shape=(2, 3, 130, 64, 64))
