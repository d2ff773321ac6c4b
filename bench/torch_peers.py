# SPDX-License-Identifier: Apache-2.0
"""Layers in plain PyTorch: naive loops and chunked forms, written from the papers' formulas (000 Eq 1, 41-42, Listing 1;
002 section 4-5; 003 Eq 22; 004 Alg 1). TORCH[variant, form] is a function of a dictionary of tensors [B,H,T,D] and the chunk
length. PARAMETERS says which parameters it takes in addition."""
import torch


def chunks_of(x, C):
    """[B,H,T,...] -> [B,H,N,C,...], with the last chunk padded with zeros."""
    pad = -x.shape[2] % C
    if pad:
        x = torch.cat([x, x.new_zeros(*x.shape[:2], pad, *x.shape[3:])], 2)
    return x.reshape(*x.shape[:2], -1, C, *x.shape[3:])


def logarithm(x):
    """log(alpha). If its computation should not be timed, the input `log_alpha` already holds it."""
    return x["log_alpha"] if "log_alpha" in x else x["alpha"].log()


def accumulated(dtype):
    """The type in which many numbers of type `dtype` are summed: float32 or wider."""
    return torch.promote_types(dtype, torch.float32)


def solved(A, b):
    """The solution x of (I + A) x = b for a strictly lower triangular A, in float32 or wider, because PyTorch does not solve in
    16-bit types."""
    wide = accumulated(b.dtype)
    return torch.linalg.solve_triangular(A.to(wide), b.to(wide), upper=False, unitriangular=True)


# ---- S_t = alpha_t S_{t-1} + v_t k_t^T ----------------------------------------------------------------------------------

def gated_chunked(x, C, gated=True):
    T = x["q"].shape[2]
    q, k, v = (chunks_of(x[n], C) for n in "qkv")
    B, H, N = q.shape[:3]
    if gated:
        log = chunks_of(logarithm(x), C).cumsum(-1)
        decay = (log[..., :, None] - log[..., None, :]).tril().exp().tril()
    else:
        log, decay = q.new_zeros(B, H, N, C, dtype=accumulated(q.dtype)), q.new_ones(C, C).tril()
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
    log = chunks_of(logarithm(x), C).cumsum(-1) if gated else torch.zeros_like(beta[..., 0])
    decay = (log[..., :, None] - log[..., None, :]).tril().exp()
    A = (beta * k @ k.transpose(-1, -2) * decay).tril(-1)
    both = solved(A, torch.cat([beta * v, beta * k * log.exp()[..., None]], -1))
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
    """004 Alg 1. A follows from Sherman-Morrison with u = w / (|w| sqrt d), w = W_u k or k. S is written along
    A x / |A x|, where x is the unit feature of k."""
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
    """kappa(z) where the keys are visible (`seen`), and 0 elsewhere. z are scores; kappa is the softmax over a row of z, or the
    identity if `kind` is "linear"."""
    if kind == "linear":
        return z * seen
    return torch.softmax(z.masked_fill(~seen, -torch.inf), -1).nan_to_num() * seen  # a row without visible keys reads 0


def delta_former_loop(x, C, kappa1="linear", kappa2="linear", scale=1.0, tau=1.0):
    """000 Listing 1, naive_implementation, with Eq 42's read and optional gates."""
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
    """000 Listing 1, optimized_chunked_implementation. The keys of earlier chunks take one product, the keys of the own chunk a
    triangular solve. Each softmax is over the whole row of keys, so no denominators of partial rows have to be merged."""
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
        u = torch.cat([u, solved(erase[..., begin:], wanted)], 2)
        out.append(weights(factor[kappa2] * q[:, :, begin:end] @ keys, kappa2, earlier <= own) @ u)
    return torch.cat(out, 2)


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
# Parameters that each layer's peers support, and their supported values.
PARAMETERS = {"delta_former": {"kappa1": ("linear", "softmax"), "kappa2": ("linear", "softmax"), "scale": float, "tau": float}}
