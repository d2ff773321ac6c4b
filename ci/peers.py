#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times other implementations of layers on tensors that `recollect bench --peers` has written.

    peers.py      # every line read is a case (JSON), whose tensors are FOLDER/q.bin, k.bin ...; a line each is the answer

Of a case with "backward" what is timed is the gradients of every tensor that is given, by autograd, from a random one of o.

PyTorch: naive loops and chunked forms written from the papers' formulas (000 Eq 1, 41-42, Listing 1; 002 section 4-5; 003
Eq 22; 004 Alg 1) and scaled_dot_product_attention. fla: its kernels, where `fla` imports and a GPU is there. Tensors are
[B,H,T,D] here; fla wants [B,T,H,D] and logarithms of gates. Layers have their default parameters: a case with others is
answered by those peers alone that take them (PARAMETERS)."""
import json
import os
import sys
import time

import numpy as np
import torch

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def load(request):
    B, H, T, Dk, Dv = request["shape"]
    dtype = np.float32 if request["real"] == "f32" else np.float64
    shapes = {"q": (B, H, T, Dk), "k": (B, H, T, Dk), "v": (B, H, T, Dv), "beta": (B, H, T), "alpha": (B, H, T),
              "lambda": (B, H, T, Dk), "w": (B, H, T, Dk)}
    read = lambda name: torch.from_numpy(np.fromfile(os.path.join(request["folder"], name + ".bin"), dtype).reshape(shapes[name]))
    return {name: read(name).to(DEVICE) for name in request["given"]}


def chunks_of(x, C):
    """[B,H,T,...] -> [B,H,N,C,...], the last chunk filled with zeros."""
    pad = -x.shape[2] % C
    if pad:
        x = torch.cat([x, x.new_zeros(*x.shape[:2], pad, *x.shape[3:])], 2)
    return x.reshape(*x.shape[:2], -1, C, *x.shape[3:])


# ---- S_t = alpha_t S_{t-1} + v_t k_t^T ----------------------------------------------------------------------------------

def gated_chunked(x, C, gated=True):
    T = x["q"].shape[2]
    q, k, v = (chunks_of(x[n], C) for n in "qkv")
    B, H, N = q.shape[:3]
    if gated:
        log = chunks_of(x["alpha"].log(), C).cumsum(-1)
        decay = (log[..., :, None] - log[..., None, :]).tril().exp().tril()
    else:
        log, decay = q.new_zeros(B, H, N, C), q.new_ones(C, C).tril()
    intra = (q @ k.transpose(-1, -2) * decay) @ v
    late = (log[..., -1:] - log).exp()[..., None] * k
    S, inter = q.new_zeros(B, H, k.shape[-1], v.shape[-1]), []
    for n in range(N):
        inter.append((q[:, :, n] * log[:, :, n, :, None].exp()) @ S)
        S = S * log[:, :, n, -1].exp()[..., None, None] + late[:, :, n].transpose(-1, -2) @ v[:, :, n]
    return (intra + torch.stack(inter, 2)).flatten(2, 3)[:, :, :T]


def linear_loop(x, C, gated=False):
    S, out = 0, []
    for t in range(x["q"].shape[2]):
        if gated:
            S = S * x["alpha"][:, :, t, None, None]
        S = S + x["v"][:, :, t, :, None] * x["k"][:, :, t, None, :]
        out.append((S @ x["q"][:, :, t, :, None])[..., 0])
    return torch.stack(out, 2)


# ---- S_t = alpha_t S_{t-1} (I - beta_t k_t k_t^T) + beta_t v_t k_t^T ----------------------------------------------------

def delta_chunked(x, C, gated=False):
    T = x["q"].shape[2]
    q, k, v = (chunks_of(x[n], C) for n in "qkv")
    beta = chunks_of(x["beta"], C)[..., None]
    log = chunks_of(x["alpha"].log(), C).cumsum(-1) if gated else torch.zeros_like(beta[..., 0])
    decay = (log[..., :, None] - log[..., None, :]).tril().exp()
    A = (beta * k @ k.transpose(-1, -2) * decay).tril(-1)
    eye = torch.eye(C, dtype=q.dtype, device=q.device)
    both = torch.linalg.solve_triangular(A + eye, torch.cat([beta * v, beta * k * log.exp()[..., None]], -1), upper=False)
    u, w = both[..., : v.shape[-1]], both[..., v.shape[-1] :]
    scores = (q @ k.transpose(-1, -2) * decay).tril()
    late = (log[..., -1:] - log).exp()[..., None] * k
    S, out = q.new_zeros(*q.shape[:2], k.shape[-1], v.shape[-1]), []
    for n in range(q.shape[2]):
        e = u[:, :, n] - w[:, :, n] @ S
        out.append((q[:, :, n] * log[:, :, n, :, None].exp()) @ S + scores[:, :, n] @ e)
        S = S * log[:, :, n, -1].exp()[..., None, None] + late[:, :, n].transpose(-1, -2) @ e
    return torch.stack(out, 2).flatten(2, 3)[:, :, :T]


def delta_loop(x, C, gated=False):
    S, out = x["q"].new_zeros(*x["q"].shape[:2], x["v"].shape[-1], x["k"].shape[-1]), []
    for t in range(x["q"].shape[2]):
        k, v, b = x["k"][:, :, t, :, None], x["v"][:, :, t, :, None], x["beta"][:, :, t, None, None]
        if gated:
            S = S * x["alpha"][:, :, t, None, None]
        S = S + b * (v - S @ k) @ k.transpose(-1, -2)
        out.append((S @ x["q"][:, :, t, :, None])[..., 0])
    return torch.stack(out, 2)


# ---- Least squares and VLA, a step at a time ----------------------------------------------------------------------------

def rls_loop(x, C, ridge=0.01):
    B, H, T, D = x["q"].shape
    P = torch.eye(D, dtype=x["q"].dtype, device=x["q"].device).expand(B, H, D, D) / ridge
    S, out = x["q"].new_zeros(B, H, x["v"].shape[-1], D), []
    for t in range(T):
        k, v = x["k"][:, :, t, :, None], x["v"][:, :, t, :, None]
        z = P @ k
        d = 1 + k.transpose(-1, -2) @ z
        S = S + (v - S @ k) @ z.transpose(-1, -2) / d
        P = P - z @ z.transpose(-1, -2) / d
        out.append((S @ x["q"][:, :, t, :, None])[..., 0])
    return torch.stack(out, 2)


def vla_loop(x, C, start=0.1, refresh=20, eta=1e-3, floor=1e-4):
    """004 Alg 1: A by Sherman-Morrison from u = w / (|w| sqrt d), w = W_u k or k itself, written along A x / |A x|."""
    B, H, T, D = x["q"].shape
    eye = torch.eye(D, dtype=x["q"].dtype, device=x["q"].device)
    A, S, total, out = eye.expand(B, H, D, D) / start, x["q"].new_zeros(B, H, x["v"].shape[-1], D), 0, []
    unit = lambda a: a / a.norm(dim=-2, keepdim=True)
    for t in range(T):
        k, v = x["k"][:, :, t, :, None], x["v"][:, :, t, :, None]
        feature = torch.nn.functional.elu(k) + 1
        u = unit(x.get("w", x["k"])[:, :, t, :, None]) / D**0.5
        z = A @ u
        A = A - z @ z.transpose(-1, -2) / (1 + u.transpose(-1, -2) @ z)
        if (t + 1) % refresh == 0:
            A = A + eta * eye
        S = S + (v - S @ unit(feature)) @ unit(A @ unit(feature)).transpose(-1, -2)
        total = total + feature
        query = torch.nn.functional.elu(x["q"][:, :, t, :, None]) + 1
        out.append((S @ query / (query.transpose(-1, -2) @ total).clamp(min=floor))[..., 0])
    return torch.stack(out, 2)


# ---- u_t = alpha_t v_t - beta_t sum_{i<t} kappa1(k_i, w_t) u_i,  o_t = sum_{i<=t} kappa2(k_i, q_t) u_i -----------------

def weights(z, kind, seen):
    """kappa of scores z where they are seen, 0 elsewhere: a row's softmax, or z itself."""
    if kind == "linear":
        return z * seen
    return torch.softmax(z.masked_fill(~seen, -torch.inf), -1).nan_to_num() * seen  # a row that sees nothing reads 0


def delta_former_loop(x, C, kappa1="linear", kappa2="linear", scale=1.0, tau=1.0):
    """000 Listing 1, naive_implementation, with Eq 42's read, and gates where given."""
    q, k, v, w = x["q"], x["k"], x["v"], x.get("w", x["k"])
    alpha, beta = x.get("alpha", torch.ones_like(v[..., 0])), x.get("beta", torch.ones_like(v[..., 0]))
    factor = {"linear": scale, "softmax": scale / tau}
    u, out = [], []
    for t in range(q.shape[2]):
        new = alpha[:, :, t, None] * v[:, :, t]
        if t > 0:
            z = factor[kappa1] * (k[:, :, :t] @ w[:, :, t, :, None])[..., 0]
            erase = weights(z, kappa1, torch.ones_like(z, dtype=torch.bool))
            new = new - beta[:, :, t, None] * (erase[..., None] * torch.stack(u, 2)).sum(-2)
        u.append(new)
        z = factor[kappa2] * (k[:, :, : t + 1] @ q[:, :, t, :, None])[..., 0]
        read = weights(z, kappa2, torch.ones_like(z, dtype=torch.bool))
        out.append((read[..., None] * torch.stack(u, 2)).sum(-2))
    return torch.stack(out, 2)


def delta_former_chunked(x, C, kappa1="linear", kappa2="linear", scale=1.0, tau=1.0):
    """000 Listing 1, optimized_chunked_implementation: earlier chunks in one product, the chunk's own by a triangular solve.
    A row of its softmax spans both, so that no masses need joining."""
    q, k, v, w = x["q"], x["k"], x["v"], x.get("w", x["k"])
    alpha, beta = x.get("alpha", torch.ones_like(v[..., 0])), x.get("beta", torch.ones_like(v[..., 0]))
    factor, T = {"linear": scale, "softmax": scale / tau}, q.shape[2]
    steps, u, out = torch.arange(T, device=q.device), v.new_zeros(*v.shape[:2], 0, v.shape[3]), []
    for begin in range(0, T, C):
        end = min(begin + C, T)
        own, earlier = steps[begin:end, None], steps[None, :end]
        keys = k[:, :, :end].transpose(-1, -2)
        erase = beta[:, :, begin:end, None] * weights(factor[kappa1] * w[:, :, begin:end] @ keys, kappa1, earlier < own)
        wanted = alpha[:, :, begin:end, None] * v[:, :, begin:end] - erase[..., :begin] @ u
        eye = torch.eye(end - begin, dtype=q.dtype, device=q.device)
        u = torch.cat([u, torch.linalg.solve_triangular(eye + erase[..., begin:], wanted, upper=False)], 2)
        out.append(weights(factor[kappa2] * q[:, :, begin:end] @ keys, kappa2, earlier <= own) @ u)
    return torch.cat(out, 2)


def softmax(x, C):
    return torch.nn.functional.scaled_dot_product_attention(x["q"], x["k"], x["v"], is_causal=True)


TORCH = {
    ("linear", "chunked"): lambda x, C: gated_chunked(x, C, gated=False),
    ("linear", "recurrent"): linear_loop,
    ("gated_linear", "chunked"): gated_chunked,
    ("gated_linear", "recurrent"): lambda x, C: linear_loop(x, C, gated=True),
    ("delta_net", "chunked"): delta_chunked,
    ("delta_net", "recurrent"): delta_loop,
    ("gated_delta_net", "chunked"): lambda x, C: delta_chunked(x, C, gated=True),
    ("gated_delta_net", "recurrent"): lambda x, C: delta_loop(x, C, gated=True),
    ("rls", "recurrent"): rls_loop,
    ("vla", "recurrent"): vla_loop,
    ("delta_former", "chunked"): delta_former_chunked,
    ("delta_former", "recurrent"): delta_former_loop,
}
if hasattr(torch.nn.functional, "scaled_dot_product_attention"):  # from PyTorch 2.0 on
    TORCH["softmax", "parallel"] = softmax
# By layer, the parameters that its peers take, with what they take of each.
PARAMETERS = {"delta_former": {"kappa1": ("linear", "softmax"), "kappa2": ("linear", "softmax"), "scale": float, "tau": float}}


def fla_kernels():
    """variant -> function of tensors in fla's layout, for the kernels that this fla has."""
    if DEVICE != "cuda":
        return {}
    try:
        from fla import ops
    except ImportError:
        return {}
    plain = dict(scale=1.0)
    log = lambda x, name: x[name].log()

    def mesa(x):
        ridge = torch.full(x["q"].shape[2:], 0.01, dtype=torch.float32, device=DEVICE)
        return ops.chunk_mesa_net(x["q"], x["k"], x["v"], g=log(x, "alpha").float(), lamb=ridge,
                                  beta=x["beta"].float())[0]

    def rwkv7(x):
        key = torch.nn.functional.normalize(x["w"], dim=-1)
        return ops.chunk_rwkv7(x["q"], log(x, "lambda"), x["k"], x["v"], -key, x["beta"][..., None] * key, **plain)[0]

    def rwkv6(x):  # its bonus is one for all steps
        return ops.chunk_rwkv6(x["q"], x["k"], x["v"], log(x, "lambda"), x["w"][0, 0].contiguous(), **plain)[0]

    def gated_linear(x):
        if "lambda" not in x:
            return ops.chunk_simple_gla(x["q"], x["k"], x["v"], g=log(x, "alpha"), **plain)[0]
        gate = log(x, "lambda") + log(x, "alpha")[..., None] if "alpha" in x else log(x, "lambda")
        return ops.chunk_gla(x["q"], x["k"], x["v"], gate, **plain)[0]

    def mamba2(x):
        return ops.chunk_simple_gla(x["q"], x["k"] * x["beta"][..., None], x["v"], g=log(x, "alpha"), **plain)[0]

    return {
        "linear": lambda x: ops.chunk_linear_attn(x["q"], x["k"], x["v"], normalize=False, **plain)[0],
        "linear_elu": lambda x: ops.chunk_linear_attn(*(torch.nn.functional.elu(x[n]) + 1 for n in "qk"), x["v"])[0],
        "gated_linear": gated_linear,
        "retnet": lambda x: ops.chunk_retention(x["q"], x["k"], x["v"], **plain)[0],
        "mamba2": mamba2,
        "rwkv6": rwkv6,
        "delta_net": lambda x: ops.chunk_delta_rule(x["q"], x["k"], x["v"], x["beta"], **plain)[0],
        "gated_delta_net": lambda x: ops.chunk_gated_delta_rule(
            x["q"], x["k"], x["v"], g=log(x, "alpha"), beta=x["beta"], **plain)[0],
        "rwkv7": rwkv7,
        "mesa": mesa,
    }


def timed(work, min_seconds):
    def once():
        if DEVICE == "cuda":
            torch.cuda.synchronize()
        start = time.perf_counter()
        work()
        if DEVICE == "cuda":
            torch.cuda.synchronize()
        return time.perf_counter() - start

    for _ in range(3):
        first = once()
        if first > 10 * min_seconds:  # a loop of minutes is not repeated to warm up
            break
    seconds = [once() for _ in range(5 if first < 10 * min_seconds else 1)]
    while sum(seconds) < min_seconds and len(seconds) < 1000:
        seconds.append(once())
    return seconds


def backward_of(peer, x, d_o=None):
    """What gives the gradients of x's tensors from that of peer(x); the forward run is over by then."""
    x = {name: tensor.detach().requires_grad_() for name, tensor in x.items()}
    with torch.enable_grad():
        o = peer(x)
    d_o = torch.randn_like(o) if d_o is None else d_o
    used = lambda: torch.autograd.grad(o, list(x.values()), d_o, retain_graph=True, allow_unused=True)
    return lambda: dict(zip(x, used()))


def result(source, peer, x, request):
    try:
        work = backward_of(peer, x) if request["backward"] else lambda: peer(x)
        with torch.no_grad():
            return dict(source=source, status="ok", reason="", seconds=timed(work, request["min_seconds"]))
    except Exception as failure:
        return dict(source=source, status="failed", reason=" ".join(str(failure).split())[:200], seconds=[])


def parameters_of(request):
    """The case's parameters for its peer, or None where one of them has a value that the peer does not take."""
    known, taken = PARAMETERS.get(request["variant"], {}), {}
    for name, value in request["parameters"].items():
        if name not in known or known[name] is not float and value not in known[name]:
            return None
        taken[name] = value
    return taken


def answer(request):
    tensors = load(request)
    results = []
    peer, parameters = TORCH.get((request["variant"], request["form"])), parameters_of(request)
    if request["variant"] == "gated_linear" and "lambda" in tensors:
        peer = None  # the form above has one gate a step
    if peer and parameters is not None:
        results.append(result("torch", lambda x: peer(x, request["chunk"], **parameters), tensors, request))
    if request["form"] != "recurrent" and not request["parameters"]:
        for name, kernel in fla_kernels().items():
            if name == request["variant"]:
                for dtype in (torch.float32, torch.bfloat16):
                    x = {n: t.transpose(1, 2).contiguous().to(dtype) for n, t in tensors.items()}
                    label = "fla" if dtype == torch.float32 else "fla-bf16"
                    results.append(result(label, kernel, x, request))
    return results


def main():
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what compilers print is no answer
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), file=answers, flush=True)


if __name__ == "__main__":
    main()
