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
EVERY = dict(dtypes=["bf16", "f32"], grad=True, varlen=True)


def inputs(case):
    if any(np.isneginf(array).any() for array in case.arrays.values()):
        pytest.skip("a gate of exactly 0, whose logarithm fla does not promise to take")
    return case.inputs(torch, "cuda")


@pytest.mark.parametrize("kernel", [chunk_gated_delta_rule, fused_recurrent_gated_delta_rule])
@rt.cases(GATED, **EVERY)
def test_gated_delta_rule(case, kernel):
    case.check(kernel(**inputs(case)))


@pytest.mark.parametrize("kernel", [chunk_delta_rule, fused_recurrent_delta_rule])
@rt.cases(DELTA, **EVERY)
def test_delta_rule(case, kernel):
    case.check(kernel(**inputs(case)))


@rt.cases(LINEAR, **EVERY)
def test_linear_attention(case):
    case.check(chunk_linear_attn(**inputs(case), normalize=False))


@pytest.mark.parametrize("layer, kernel", [(GATED, chunk_gated_delta_rule), (DELTA, chunk_delta_rule)])
def test_properties(layer, kernel):
    rt.properties(layer, kernel, xp=torch, device="cuda", dtype="bf16", shape=(2, 3, 130, 64, 64))
