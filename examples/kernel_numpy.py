# SPDX-License-Identifier: Apache-2.0
"""The delta rule in NumPy, to be compared with its definition:

    recollect sample delta_net --shape 1,2,64,16,16 --dtype f32 -o in.npz
    python3 kernel_numpy.py in.npz out.npz
    recollect check delta_net -i in.npz -c out.npz --dtype f32"""
import sys

import numpy as np

with np.load(sys.argv[1]) as f:
    q, k, v, beta, S = (f[name].astype("f4") for name in ("q", "k", "v", "beta", "state"))  # S [B,H,Dv,Dk]
o = np.empty_like(v)
for t in range(v.shape[2]):
    error = v[:, :, t] - np.einsum("bhvk,bhk->bhv", S, k[:, :, t])
    S += np.einsum("bh,bhv,bhk->bhvk", beta[:, :, t], error, k[:, :, t])
    o[:, :, t] = np.einsum("bhvk,bhk->bhv", S, q[:, :, t])
np.savez(sys.argv[2], o=o, state=S)
