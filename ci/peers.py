#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times other implementations of layers on tensors that `recollect bench --peers` has written.

    peers.py      # every line read is a case (JSON), whose tensors are FOLDER/q.bin, k.bin ...; a line each is the answer

Of a case with "backward" what is timed is the gradients of every tensor that is given, by autograd, from a random one of o.

PyTorch: naive loops and chunked forms written from the papers' formulas (000 Eq 1, 41-42, Listing 1; 002 section 4-5; 003
Eq 22; 004 Alg 1) and scaled_dot_product_attention. fla: its kernels, where `fla` imports and a GPU is there. Tensors are
[B,H,T,D] here; fla wants [B,T,H,D] and logarithms of gates. Layers have their default parameters: a case with others is
answered by those peers alone that take them (PARAMETERS).

A float32 case is also timed in bfloat16 ("torch-bf16", "fla-bf16"), but for loops, whose time is their launches'. fla's
kernels are compiled and tuned for seconds to minutes at their first call, so that they answer a case when it is asked
"tuned", and otherwise whether there are any ("more"). A peer whose first call takes longer than "limit" seconds is not
timed; what Triton has compiled by then lies in its cache (TRITON_CACHE_DIR), where a next try finds it."""
import json
import os
import signal
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


def accumulated(dtype):
    """What sums of many numbers of this type are kept in."""
    return torch.promote_types(dtype, torch.float32)


def solved(A, b):
    """x of (I + A) x = b, A strictly lower triangular; no type below float32 has this in PyTorch."""
    wide = accumulated(b.dtype)
    return torch.linalg.solve_triangular(A.to(wide), b.to(wide), upper=False, unitriangular=True)


# ---- S_t = alpha_t S_{t-1} + v_t k_t^T ----------------------------------------------------------------------------------

def gated_chunked(x, C, gated=True):
    T = x["q"].shape[2]
    q, k, v = (chunks_of(x[n], C) for n in "qkv")
    B, H, N = q.shape[:3]
    if gated:
        log = chunks_of(x["alpha"].log(), C).cumsum(-1)
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
    log = chunks_of(x["alpha"].log(), C).cumsum(-1) if gated else torch.zeros_like(beta[..., 0])
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
        u = torch.cat([u, solved(erase[..., begin:], wanted)], 2)
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


class HostClock:
    """Seconds from call to return, with cold caches: what `bench` takes of its own forms on a CPU."""

    def __init__(self):
        caches = os.sysconf("SC_LEVEL3_CACHE_SIZE") if "SC_LEVEL3_CACHE_SIZE" in os.sysconf_names else 0
        self.large = torch.empty(max(64 << 20, 2 * caches), dtype=torch.uint8)

    def seconds(self, work):
        self.large.zero_()  # pushes everything else out
        start = time.perf_counter()
        work()
        return time.perf_counter() - start


class DeviceClock:
    """Seconds between two events on the device around the call, with cold caches. It clears a large array before, four
    times over, about a millisecond, and is not waited for: meanwhile the host launches what is timed, so that Python's
    launches do not count. Where the host cannot keep ahead (loops) they do, and that time is what a user gets."""

    def __init__(self):
        self.large = torch.empty(512 << 20, dtype=torch.uint8, device="cuda")

    def seconds(self, work):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        for _ in range(4):
            self.large.zero_()
        start.record()
        work()
        end.record()
        end.synchronize()
        return start.elapsed_time(end) / 1e3


class OutOfTime(BaseException):
    """No Exception, which tuners take for a refusal of one of their configurations."""


class limited:
    """Within it, OutOfTime is raised after `seconds`: between two steps of Python, so after the kernel or compiler at work."""

    def __init__(self, seconds):
        self.allowed = seconds

    def __enter__(self):
        def out_of_time(*_):
            raise OutOfTime

        self.before = signal.signal(signal.SIGALRM, out_of_time)
        signal.setitimer(signal.ITIMER_REAL, self.allowed)

    def __exit__(self, *_):
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, self.before)


def timed(work, clock, min_seconds):
    """Samples after a warm-up, as `bench` takes them; of what takes long one. The first call is over."""
    last = clock.seconds(work)
    if last > 10 * min_seconds:
        return [last]
    for _ in range(10):
        now = clock.seconds(work)
        if abs(now - last) < 0.05 * last:
            break
        last = now
    seconds = [clock.seconds(work) for _ in range(5)]
    while sum(seconds) < min_seconds and len(seconds) < 1000:
        seconds.append(clock.seconds(work))
    return seconds


def backward_of(peer, x, d_o=None):
    """What gives the gradients of x's tensors from that of peer(x); the forward run is over by then."""
    x = {name: tensor.detach().requires_grad_() for name, tensor in x.items()}
    with torch.enable_grad():
        o = peer(x)
    d_o = torch.randn_like(o) if d_o is None else d_o
    used = lambda: torch.autograd.grad(o, list(x.values()), d_o, retain_graph=True, allow_unused=True)
    return lambda: dict(zip(x, used()))


def result(source, peer, x, request, clock):
    row = dict(source=source, status="ok", reason="", seconds=[])
    try:
        with torch.no_grad():
            with limited(request["limit"]):
                work = backward_of(peer, x) if request["backward"] else lambda: peer(x)
                clock.seconds(work)
            row["seconds"] = timed(work, clock, request["min_seconds"])
    except OutOfTime:
        row.update(status="skipped", reason=f"its first call took longer than {request['limit']:g} s")
    except (AssertionError, NotImplementedError, ValueError) as refusal:  # of a type or shape; the process is unharmed
        row.update(status="skipped", reason=said(refusal))
    except Exception as failure:
        row.update(status="failed", reason=said(failure))
    return row


def said(error):
    return " ".join(str(error).split())[:200] or type(error).__name__


def parameters_of(request):
    """The case's parameters for its peer, or None where one of them has a value that the peer does not take."""
    known, taken = PARAMETERS.get(request["variant"], {}), {}
    for name, value in request["parameters"].items():
        if name not in known or known[name] is not float and value not in known[name]:
            return None
        taken[name] = value
    return taken


def in_bf16(x):
    """What would be of this type in a model: q, k, v and w. Gates keep theirs."""
    return {name: t.to(torch.bfloat16) if name in ("q", "k", "v", "w") else t for name, t in x.items()}


def autocast(peer):
    """The peer with its products in bfloat16, and what PyTorch says is not to be rounded so in float32."""
    def cast(x):
        with torch.autocast(DEVICE, torch.bfloat16, cache_enabled=False):
            return peer(x)

    return cast


def peers_of(request, given):
    """[(source, peer, whether in bfloat16)], the quickest to answer first. Those of fla where the request is "tuned"."""
    variant, form, types = request["variant"], request["form"], (False, True) if request["real"] == "f32" else (False,)
    if request["tuned"]:
        kernel = fla_kernel(request)
        return [("fla-bf16" if bf16 else "fla", kernel, bf16) for bf16 in types] if kernel else []
    peer, parameters = TORCH.get((variant, form)), parameters_of(request)
    if not peer or parameters is None or variant == "gated_linear" and "lambda" in given:  # its forms have one gate a step
        return []
    plain = lambda x: peer(x, request["chunk"], **parameters)
    if form == "recurrent":
        return [("torch", plain, False)]
    return [("torch-bf16", autocast(plain), True) if bf16 else ("torch", plain, False) for bf16 in types]


def fla_kernel(request):
    if request["form"] == "recurrent" or request["parameters"] or request["real"] != "f32":
        return None
    return fla_kernels().get(request["variant"])


def in_layout_of_fla(x, bf16):
    dtype = torch.bfloat16 if bf16 else torch.float32
    return {name: t.transpose(1, 2).contiguous().to(dtype) for name, t in x.items()}


def answer(request, clock):
    peers = peers_of(request, request["given"])
    x = load(request) if peers else {}
    lay_out = in_layout_of_fla if request["tuned"] else lambda x, bf16: in_bf16(x) if bf16 else x
    results = [result(source, peer, lay_out(x, bf16), request, clock) for source, peer, bf16 in peers]
    return dict(results=results, more=not request["tuned"] and fla_kernel(request) is not None)


def main():
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what compilers print is no answer
    clock = DeviceClock() if DEVICE == "cuda" else HostClock()
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line), clock)), file=answers, flush=True)


if __name__ == "__main__":
    main()
