# SPDX-License-Identifier: Apache-2.0
"""PyTorch's attention, forward and backward, on the battery of softmax attention:

    python3 -m pytest test_kernels_torch.py

On a GPU each of its backends is a test of its own."""
import pytest

import recollect.testing as rt

torch = pytest.importorskip("torch", reason="no PyTorch here: its attention was not tried")
GPU = torch.cuda.is_available()
BACKENDS = ["FLASH_ATTENTION", "EFFICIENT_ATTENTION", "CUDNN_ATTENTION", "MATH"] if GPU else [None]


def attention(q, k, v, backend):
    if backend is None:
        return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    from torch.nn.attention import SDPBackend, sdpa_kernel

    with sdpa_kernel(getattr(SDPBackend, backend)):
        try:
            return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        except RuntimeError as refusal:  # a type or a width that the backend does not support
            pytest.skip(f"{backend} refuses the case: {str(refusal).splitlines()[0]}")


HAS_ATTENTION = hasattr(torch.nn.functional, "scaled_dot_product_attention")


@pytest.mark.skipif(not HAS_ATTENTION, reason="this PyTorch is older than 2.0 and has no attention")
@pytest.mark.parametrize("backend", BACKENDS)
@rt.cases("softmax", dtypes=["f32", "bf16"], grad=True)
def test_attention(case, backend):
    case.check(attention(**case.inputs(torch, "cuda" if GPU else "cpu"), backend=backend))


def written_out(q, k, v):
    """The same as a formula; computes in float32 for every type of arrays."""
    scores = q.float() @ k.float().mT * q.shape[-1] ** -0.5
    scores = scores.masked_fill(~torch.ones_like(scores, dtype=torch.bool).tril(), float("-inf"))
    return (scores.softmax(-1) @ v.float()).to(q.dtype)


@rt.cases("softmax", dtypes=["f32", "bf16"], grad=True, only="T6*")
def test_formula(case):
    case.check(written_out(**case.inputs(torch)))


def test_properties():
    rt.properties("softmax", written_out, xp=torch, dtype="bf16")
