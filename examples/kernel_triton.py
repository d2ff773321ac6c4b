# SPDX-License-Identifier: Apache-2.0
"""Linear attention in Triton, one program per head (Dk and Dv are powers of 2):

    recollect sample linear --shape 1,2,64,16,16 --dtype f32 -o in.npz
    python3 kernel_triton.py in.npz out.npz
    recollect check linear -i in.npz -c out.npz --dtype f32"""
import sys

import numpy as np
import torch
import triton
import triton.language as tl


@triton.jit
def linear(q, k, v, o, state, T, Dk: tl.constexpr, Dv: tl.constexpr):
    head, i, j = tl.program_id(0), tl.arange(0, Dv), tl.arange(0, Dk)
    own = state + (head * Dv + i[:, None]) * Dk + j[None, :]
    S = tl.load(own)
    for t in range(T):
        row = head * T + t
        S += tl.load(v + row * Dv + i)[:, None] * tl.load(k + row * Dk + j)[None, :]
        tl.store(o + row * Dv + i, tl.sum(S * tl.load(q + row * Dk + j)[None, :], 1))
    tl.store(own, S)


q, k, v, state = (torch.tensor(np.load(sys.argv[1])[name], device="cuda") for name in ("q", "k", "v", "state"))
(B, H, T, Dk), Dv, o = k.shape, v.shape[3], torch.empty_like(v)
linear[(B * H,)](q, k, v, o, state, T, Dk, Dv)
np.savez(sys.argv[2], o=o.cpu(), state=state.cpu())
