# SPDX-License-Identifier: Apache-2.0
"""The delta rule as a scan in JAX; its gradients by jax.vjp:

    python3 -m pytest test_kernels_jax.py"""
import pytest

import recollect.testing as rt

jax = pytest.importorskip("jax", reason="no JAX here: its kernels were not tried")
jnp = jax.numpy

DELTA = rt.layer("delta_net", layout="bthd")


def scanned(q, k, v, beta, state=None):
    """o [B,T,H,Dv] and the final state [B,H,Dv,Dk], in float32."""
    S = jnp.zeros((q.shape[0], q.shape[2], v.shape[-1], q.shape[-1])) if state is None else state

    def step(S, x):
        q, k, v, beta = (a.astype(jnp.float32) for a in x)
        error = v - jnp.einsum("bhvk,bhk->bhv", S, k)
        S = S + jnp.einsum("bh,bhv,bhk->bhvk", beta, error, k)
        return S, jnp.einsum("bhvk,bhk->bhv", S, q)

    S, o = jax.lax.scan(step, S.astype(jnp.float32), [jnp.moveaxis(a, 1, 0) for a in (q, k, v, beta)])
    return jnp.moveaxis(o, 0, 1).astype(v.dtype), S


@rt.cases(DELTA, dtypes=["f32", "bf16"], grad=True)
def test_outputs_state_and_gradients(case):
    case.check(case.run(scanned, jax))


def test_properties():
    rt.properties(DELTA, scanned, xp=jax, dtype="bf16")
