# SPDX-License-Identifier: Apache-2.0
"""Linear attention in chunks, in NumPy, compared with its definition on the whole battery:

    python3 -m pytest test_kernels_numpy.py"""
import numpy as np

import recollect.testing as rt

LINEAR = rt.layer("linear", layout="bthd")


def chunked(q, k, v, state=None, chunk=16):
    """o [B,T,H,Dv] and the final state [B,H,Dv,Dk], in float32."""
    S = np.zeros((q.shape[0], q.shape[2], v.shape[-1], q.shape[-1]), np.float32) if state is None else state
    o = np.empty(v.shape, np.float32)
    for t in range(0, q.shape[1], chunk):
        Q, K, V = (a[:, t:t + chunk].swapaxes(1, 2) for a in (q, k, v))  # [B,H,chunk,D]
        scores = np.tril(Q @ K.swapaxes(2, 3))
        o[:, t:t + chunk] = (Q @ S.swapaxes(2, 3) + scores @ V).swapaxes(1, 2)
        S = S + V.swapaxes(2, 3) @ K
    return o, S


@rt.cases(LINEAR, dtypes=["f32"])
def test_outputs_and_state(case):
    case.check(chunked(**case.inputs()))


def test_properties():
    rt.properties(LINEAR, chunked)
