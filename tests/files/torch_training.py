# SPDX-License-Identifier: Apache-2.0
"""What `recollect train` computes, a second time, by PyTorch in float64, from the settings and the seed alone.

`python3 torch_training.py` writes torch_losses.csv: the loss of every step of CASES, the same from slightly different
parameters, and the losses of RIVALS, which are the first case with one error each. test_train_torch.py compares recollect with
this file, so that it also runs without PyTorch."""
import csv
import math
import os

from streams import Stream

try:
    import torch
except ImportError:
    torch = None

TRACE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "torch_losses.csv")
SEED, STEPS = 3, 200
SMALL = dict(width=16, heads=2, ffn=24, layers=2, vocabulary=16, pairs=3, batch=8, steps=STEPS, lr=0.01, decay=0.1,
             warmup=0.1, clip=0.5, norm="rms", head="tied")
CASES = {
    "softmax": dict(SMALL, mixer="softmax", positions="learned", convolution=2, convolved="keys", keys="raw"),
    "linear": dict(SMALL, mixer="linear", positions="rope", convolution=3, convolved="all", keys="raw"),
    "delta_net": dict(SMALL, mixer="delta_net", positions="none", convolution=2, convolved="keys", keys="unit"),
    "layer norm and a head": dict(SMALL, mixer="softmax", positions="learned", convolution=2, convolved="keys",
                                  keys="raw", norm="layer", head="own"),
}
NUDGE = 1e-9
RIVALS = ("decay in the gradient", "epsilon 1e-7", "no bias correction", "warm-up from 0", "gelu by tanh")


def length(s):
    return 3 * s["pairs"] + 1


def texts(s, step):
    """Pairs, separator and queries of key-value recall: tokens, and labels (-1: not asked), both [batch, length]."""
    n, V, tokens, labels = s["pairs"], s["vocabulary"], [], []
    for i in range(s["batch"]):
        draws = Stream(SEED, f"train/texts/train#{step * s['batch'] + i}").below(
            [V // 2 - j for j in range(n)] + [n - j for j in range(n)] + [V - 1 - V // 2] * n)
        keys, order = list(range(V // 2)), list(range(n))
        for j in range(n):
            for held, draw in (keys, draws[j]), (order, draws[n + j]):
                held[j], held[j + draw] = held[j + draw], held[j]
        values = [V // 2 + draw for draw in draws[2 * n:]]
        tokens.append([token for pair in zip(keys, values) for token in pair] + [V - 1] + [keys[j] for j in order])
        labels.append([-1] * (2 * n + 1) + [values[j] for j in order])
    return torch.tensor(tokens), torch.tensor(labels)


def parameters(s):
    d, ffn, parts = s["width"], s["ffn"], {}

    def matrix(name, rows, columns, spread):
        normals = Stream(SEED, "train/weights/" + name).normals(rows * columns).reshape(rows, columns)
        parts[name] = torch.tensor(normals * spread, requires_grad=True)

    def vector(name, size, value):
        parts[name] = torch.full((size,), float(value), dtype=torch.float64, requires_grad=True)

    matrix("embedding", s["vocabulary"], d, d ** -0.5)
    if s["head"] == "own":
        matrix("head", s["vocabulary"], d, d ** -0.5)
    if s["positions"] == "learned":
        matrix("positions", length(s), d, d ** -0.5)
    for block in range(s["layers"]):
        name = f"{block}.".__add__
        matrix(name("convolution"), s["convolution"], d, s["convolution"] ** -0.5)
        for part in "qkvo":
            matrix(name(part), d, d, d ** -0.5)
        if s["mixer"] == "delta_net":
            matrix(name("beta"), d, s["heads"], d ** -0.5)
            vector(name("beta bias"), s["heads"], 0)
        matrix(name("ffn in"), d, ffn, d ** -0.5)
        matrix(name("ffn out"), ffn, d, ffn ** -0.5)
        vector(name("ffn bias"), ffn, 0)
    for place in ["", *(f"{block}.{part} " for block in range(s["layers"]) for part in ("mixer", "ffn"))]:
        vector(place + "gain", d, 1)
        if s["norm"] == "layer":
            vector(place + "shift", d, 0)
    return parts


def norm(s, p, place, x):
    if s["norm"] == "layer":
        return torch.nn.functional.layer_norm(x, x.shape[-1:], p[place + "gain"], p[place + "shift"], eps=1e-5)
    return p[place + "gain"] * x / (x.square().mean(-1, keepdim=True) + 1e-6).sqrt()


def convolution(x, taps):
    y = torch.zeros_like(x)
    for t in range(x.shape[1]):
        for j in range(min(t + 1, len(taps))):
            y[:, t] = y[:, t] + taps[j] * x[:, t - j]
    return y


def rotated(x):
    """Channels j and j + D/2 of x [B,T,H,D] as a complex number, times exp(i t 10000^(-2j/D))."""
    T, D = x.shape[1], x.shape[3]
    z = torch.complex(x[..., :D // 2], x[..., D // 2:])
    angle = torch.arange(T).double()[:, None] * 10000 ** (-2 * torch.arange(D // 2).double() / D)
    z = z * torch.polar(torch.ones_like(angle), angle)[:, None]
    return torch.cat([z.real, z.imag], -1)


def mixed(s, q, k, v, beta):
    """o [B,T,H,D], step by step."""
    reads = []
    state = torch.zeros(*q[:, 0].shape, q.shape[3], dtype=torch.float64)  # [B,H,value,key]
    for t in range(q.shape[1]):
        if s["mixer"] == "softmax":
            scores = torch.einsum("bhd,bihd->bhi", q[:, t], k[:, :t + 1]) / math.sqrt(q.shape[3])
            reads.append(torch.einsum("bhi,bihd->bhd", scores.softmax(-1), v[:, :t + 1]))
            continue
        write = v[:, t]
        if s["mixer"] == "delta_net":
            write = beta[:, t, :, None] * (write - torch.einsum("bhvk,bhk->bhv", state, k[:, t]))
        state = state + write[..., None] * k[:, t, :, None, :]
        reads.append(torch.einsum("bhvk,bhk->bhv", state, q[:, t]))
    return torch.stack(reads, 1)


def loss_of(s, p, tokens, labels, gelu):
    B, T, H = *tokens.shape, s["heads"]
    x = p["embedding"][tokens]
    if s["positions"] == "learned":
        x = x + p["positions"]
    for block in range(s["layers"]):
        part = lambda name: p[f"{block}.{name}"]
        normed = norm(s, p, f"{block}.mixer ", x)
        seen = convolution(normed, part("convolution"))
        q, k, v = (((seen if name == "k" or s["convolved"] == "all" else normed) @ part(name)).reshape(B, T, H, -1)
                   for name in "qkv")
        if s["positions"] == "rope":
            q, k = rotated(q), rotated(k)
        if s["keys"] == "unit":
            k = k / (k.square().sum(-1, keepdim=True) + 1e-12).sqrt()
        beta = torch.sigmoid(normed @ part("beta") + part("beta bias")) if s["mixer"] == "delta_net" else None
        x = x + mixed(s, q, k, v, beta).reshape(B, T, -1) @ part("o")
        x = x + gelu(norm(s, p, f"{block}.ffn ", x) @ part("ffn in") + part("ffn bias")) @ part("ffn out")
    logits = norm(s, p, "", x) @ p["head" if s["head"] == "own" else "embedding"].T
    return torch.nn.functional.cross_entropy(logits[labels >= 0], labels[labels >= 0])


def losses(s, rival="", nudge=0.0):
    """The loss at every step. `nudge`: relative size of random changes of the initial parameters."""
    p = parameters(s)
    with torch.no_grad():
        for name, part in p.items():
            part *= 1 + nudge * torch.tensor(Stream(SEED, "nudge/" + name).normals(part.numel())).reshape(part.shape)
    matrices, vectors = ([x for x in p.values() if x.dim() == dim] for dim in (2, 1))
    kind = torch.optim.Adam if rival == "decay in the gradient" else torch.optim.AdamW
    adam = kind([dict(params=matrices, weight_decay=s["decay"]), dict(params=vectors, weight_decay=0)],
                betas=(0.9, 0.999), eps=1e-7 if rival == "epsilon 1e-7" else 1e-8)
    gelu = lambda x: torch.nn.functional.gelu(x, approximate="tanh" if rival == "gelu by tanh" else "none")
    rising, found = s["warmup"] * s["steps"], []
    for step in range(s["steps"]):
        adam.zero_grad()
        loss = loss_of(s, p, *texts(s, step), gelu)
        loss.backward()
        size = torch.sqrt(sum(x.grad.square().sum() for x in p.values()))
        for x in p.values():
            x.grad *= min(1, s["clip"] / float(size))
        passed = step + (rival != "warm-up from 0")
        rate = s["lr"] * (passed / rising if passed < rising else
                          (1 + math.cos(math.pi * (step - rising) / (s["steps"] - rising))) / 2)
        if rival == "no bias correction":  # ignores the factor sqrt(1 - beta2^t) on epsilon
            rate *= (1 - 0.9 ** (step + 1)) / math.sqrt(1 - 0.999 ** (step + 1))
        for group in adam.param_groups:
            group["lr"] = rate
        adam.step()
        found.append(float(loss))
    return found


def trace():
    columns = {name: losses(s) for name, s in CASES.items()}
    columns.update({name + " nudged": losses(s, nudge=NUDGE) for name, s in CASES.items()})
    columns.update({rival: losses(next(iter(CASES.values())), rival) for rival in RIVALS})
    return columns


if __name__ == "__main__":
    columns = trace()
    with open(TRACE, "w", newline="") as f:
        writer = csv.writer(f, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows([f"{loss:.17g}" for loss in row] for row in zip(*columns.values()))
