# SPDX-License-Identifier: Apache-2.0
"""Linear attention in NumPy with gradients: a correct kernel, and one with a mistake for each property that it
breaks."""
import numpy as np


def linear(q, k, v, state=None, do=None, dstate=None):
    """[B,H,T,D]: o, the final state [B,H,Dv,Dk] and, if do is given, gradients, all in float32."""
    q, k, v = (np.asarray(a, np.float32) for a in (q, k, v))
    B, H, T, K = q.shape
    S = np.zeros((B, H, v.shape[-1], K), np.float32) if state is None else np.array(state, np.float32)
    o, states = np.zeros(v.shape, np.float32), []
    for t in range(T):
        S = S + v[:, :, t, :, None] * k[:, :, t, None, :]
        states.append(S)
        o[:, :, t] = (S * q[:, :, t, None, :]).sum(-1)
    found = {"o": o, "state": S}
    if do is None:
        return found
    dS = np.zeros_like(S) if dstate is None else np.array(dstate, np.float32)
    dq, dk, dv = (np.zeros(a.shape, np.float32) for a in (q, k, v))
    for t in reversed(range(T)):
        dq[:, :, t] = (states[t] * do[:, :, t, :, None]).sum(-2)
        dS = dS + do[:, :, t, :, None] * q[:, :, t, None, :]
        dk[:, :, t] = (dS * v[:, :, t, :, None]).sum(-2)
        dv[:, :, t] = (dS * k[:, :, t, None, :]).sum(-1)
    return {**found, "dq": dq, "dk": dk, "dv": dv, **({} if state is None else {"dstate": dS})}


def counting(q, k, v, state=None, do=None, dstate=None, calls=[0]):
    """Adds another small number at every call, like the last bits of an atomic sum."""
    calls[0] += 1
    found = linear(q, k, v, state, do, dstate)
    return {**found, "o": found["o"] * np.float32(1 + calls[0] * 2.0**-23)}


def of_all_steps(q, k, v, state=None, do=None, dstate=None):
    """Its last steps scale the first ones: correct up to rounding, but not causal."""
    found = linear(q, k, v, state, do, dstate)
    scale = np.float32(1 + 2.0**-18 * np.tanh(v[:, :, -1].sum()))
    return {**found, "o": found["o"] * scale}


def without_hand_over(q, k, v, state=None, do=None, dstate=None):
    """The returned state lacks the initial state."""
    found = linear(q, k, v, state, do, dstate)
    return found if state is None else {**found, "state": found["state"] - state}


def of_first_head(q, k, v, state=None, do=None, dstate=None):
    """Reads the keys of head 0 in every head."""
    return linear(q, np.repeat(k[:, :1], k.shape[1], 1), v, state, do, dstate)


def of_first_text(q, k, v, state=None, do=None, dstate=None):
    """Reads the state of text 0 in every text."""
    return linear(q, k, v, None if state is None else np.repeat(state[:1], len(state), 0), do, dstate)


def clipped_gradient(q, k, v, state=None, do=None, dstate=None):
    """Clips gradients, which large weights reveal."""
    found = linear(q, k, v, state, do, dstate)
    return {n: np.clip(a, -8, 8) if n == "dv" else a for n, a in found.items()}


def reading_behind(q, k, v, state=None, do=None, dstate=None):
    """Reads memory after the values, like a tile without a mask, and adds a small part of it."""
    behind = np.lib.stride_tricks.as_strided(v.reshape(-1)[-1:], (2,))[1]
    found = linear(q, k, v, state, do, dstate)
    return {**found, "o": found["o"] + (behind * 0 if v.base is not None else 0)}


def assuming_strides(q, k, v, state=None, do=None, dstate=None):
    """Assumes that every array is contiguous: reads numbers in memory order."""
    def lying(a):
        return np.lib.stride_tricks.as_strided(a, a.shape, np.zeros(a.shape, a.dtype).strides)

    return linear(lying(q), lying(k), lying(v), state, do, dstate)


BREAKS = {  # property -> a kernel that breaks it
    "deterministic": counting, "causal": of_all_steps, "split": without_hand_over, "heads": of_first_head,
    "batch": of_first_text, "linear_in_do": clipped_gradient, "poisoned_memory": reading_behind,
    "strides": assuming_strides}  # fmt: skip
