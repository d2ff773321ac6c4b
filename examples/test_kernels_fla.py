# SPDX-License-Identifier: Apache-2.0
"""Kernels of flash-linear-attention as its users call them, on the battery and on packed texts:

    python3 -m pytest test_kernels_fla.py

test_fla_layers.py has every other layer of fla, with what it takes to call them."""
import contextlib

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
CHUNK = dict(dtypes=["bf16", "tf32"], varlen=True)  # Triton multiplies float32 in TF32 unless told otherwise
BY_STEP = dict(dtypes=["bf16", "f32"], varlen=True)  # no products of matrices
REFUSALS = ("does not support float32", "Backward pass is not implemented", "Please upgrade Triton")


@contextlib.contextmanager
def skipping_refusals():
    try:
        yield
    except Exception as refusal:
        if not any(words in str(refusal) for words in REFUSALS):
            raise
        pytest.skip(f"fla refuses: {refusal}")


def checked(kernel, case, **options):
    """Checks outputs, and gradients if the case has any. Skips what fla refuses, with its reason."""
    if any(np.isneginf(array).any() for array in case.arrays.values()):
        pytest.skip("a gate of exactly 0, whose logarithm fla does not promise to take")
    with skipping_refusals():
        case.check(kernel(**case.inputs(torch, "cuda"), **options))


@rt.cases(GATED, **CHUNK)
def test_gated_delta_rule(case):
    checked(chunk_gated_delta_rule, case)


@rt.cases(GATED, **BY_STEP)
def test_gated_delta_rule_by_step(case):
    checked(fused_recurrent_gated_delta_rule, case)


@rt.cases(GATED, **CHUNK, grad=True)
def test_gradients_of_gated_delta_rule(case):
    checked(chunk_gated_delta_rule, case)


@rt.cases(DELTA, **CHUNK, grad=True)
def test_delta_rule(case):
    checked(chunk_delta_rule, case)


@rt.cases(DELTA, **BY_STEP, grad=True)
def test_delta_rule_by_step(case):
    checked(fused_recurrent_delta_rule, case)


@rt.cases(LINEAR, **CHUNK, grad=True)
def test_linear_attention(case):
    checked(chunk_linear_attn, case, normalize=False)


@pytest.mark.parametrize("layer, kernel", [(GATED, chunk_gated_delta_rule), (DELTA, chunk_delta_rule)])
def test_properties(layer, kernel):
    with skipping_refusals():
        rt.properties(layer, kernel, xp=torch, device="cuda", dtype="bf16", shape=(2, 3, 130, 64, 64))
