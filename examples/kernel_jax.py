# SPDX-License-Identifier: Apache-2.0
"""Linear attention as a scan in JAX:

    recollect sample linear --shape 1,2,64,16,16 --dtype f32 -o in.npz
    python3 kernel_jax.py in.npz out.npz
    recollect check linear -i in.npz -c out.npz --dtype f32"""
import sys

import jax
import jax.numpy as jnp
import numpy as np

given = np.load(sys.argv[1])
q, k, v = (jnp.moveaxis(jnp.asarray(given[name]), 2, 0) for name in ("q", "k", "v"))  # [T,B,H,D]


def step(S, x):
    q, k, v = x
    S = S + jnp.einsum("bhv,bhk->bhvk", v, k)
    return S, jnp.einsum("bhvk,bhk->bhv", S, q)


S, o = jax.lax.scan(step, jnp.asarray(given["state"]), (q, k, v))
np.savez(sys.argv[2], o=np.moveaxis(np.asarray(o), 0, 2), state=np.asarray(S))
