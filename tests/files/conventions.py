# SPDX-License-Identifier: Apache-2.0
"""Users' conventions as a table: how a kernel in NumPy reads its arrays, the flags with which recollect reads them in the same
way, and flags with which it must not. Gradients are complex-step derivatives, Im L(x + ih)/h, which are exact to float64's
rounding."""
from dataclasses import dataclass, field
from typing import Callable

import numpy as np

NAMES = {  # q, k, v, o, initial state, final state, then the gradients of the last three
    "layer": ("q", "k", "v", "o", "state", "state", "do", "dstate", "dstate"),
    "fla": ("q", "k", "v", "o", "initial_state", "final_state", "do", "dht", "dh0"),
    "mamba": ("C", "B", "x", "out", "initial_states", "final_states", "dout", "dfinal_states", "dinitial_states"),
}
PER_HEAD = ("A", "A_log", "dt_bias", "gamma", "D")


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softplus(x):
    return np.log(1 + np.exp(x))


def by_channel(a):  # [H] -> [H,1], over arrays [..,H,Dk]
    return a[:, None]


def bfloat16(a):
    """Rounded to bfloat16, ties to even."""
    bits = np.ascontiguousarray(a, np.float32).view(np.uint32).astype(np.uint64)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16 << 16).astype(np.uint32).view(np.float32)


def softmax(q, k, v, head_of):
    """Causal attention of [T,H,D]. No maximum is subtracted, because complex-step derivatives do not pass through a maximum."""
    H = q.shape[1]
    k, v = (a[:, [head_of(h, H // a.shape[1]) if a.shape[1] < H else h for h in range(H)]] for a in (k, v))
    weights = np.tril(np.exp(np.einsum("thd,shd->hts", q, k)))
    return np.einsum("hts,shd->thd", weights / weights.sum(-1, keepdims=True), v)


def of_delta(S, k, v, beta, decay, w):
    S = S * decay
    return S + beta * np.outer(v - S @ k, k)


def of_sum(S, k, v, beta, decay, w):
    return S * decay + beta * np.outer(v, k)


def of_rwkv7(S, k, v, beta, decay, w):
    x = w / np.sqrt((w * w).sum())
    return S * decay - beta * np.outer(S @ x, x) + np.outer(v, k)


@dataclass(frozen=True)
class Wrong:
    """What must be refused: the same arrays read with flags that replace those of the row (None: the flag is not given), or
    without some arrays, or a kernel with a mistake (arguments of Row.forward). `said` must occur in the diagnosis or in the
    error."""

    said: str
    flags: dict = field(default_factory=dict)
    lacks: tuple = ()
    kernel: dict = field(default_factory=dict)


def read(said, **flags):
    return Wrong(said, flags)


def lacking(said, *arrays):
    return Wrong(said, lacks=arrays)


@dataclass(frozen=True, eq=False)
class Row:
    """One convention. `flags` are arguments of rt.layer and flags of the commands, `sample` are more flags of sample, and
    `change` gives arrays that sample does not write. The other fields describe what the kernel does with its arrays, over steps
    as [B,T,H,..]: `update` of the state (None: causal softmax); `decay` and `beta` as functions of the arrays by name; the
    factor `scale` on q; EPS of `l2norm`; and `returned`, the results that it returns, if not all."""

    name: str
    wrong: tuple
    flags: dict = field(default_factory=dict)
    sample: str = ""
    layer: str = "gated_delta_net"
    shape: str = "1,4,10,4,3"
    dtype: str = "f32"
    names: str = "layer"
    layout: str = "bhtd"
    state: str = "vk"
    update: Callable = of_delta
    decay: Callable = lambda x: x["alpha"]
    beta: Callable = lambda x: x["beta"]
    scale: Callable = lambda Dk: 1
    l2norm: float | None = None
    change: Callable = lambda x: x
    returned: Callable = lambda name: True

    def over_steps(self, name):
        states = (*NAMES[self.names][4:6], *NAMES[self.names][7:])
        return name not in (*PER_HEAD, *states, *("d" + n for n in PER_HEAD), "cu_seqlens")

    def to_steps(self, a):
        return {"bhtd": lambda: a.swapaxes(1, 2), "bthd": lambda: a, "thd": lambda: a[None]}[self.layout]()

    def from_steps(self, a):
        return {"bhtd": lambda: a.swapaxes(1, 2), "bthd": lambda: a, "thd": lambda: a[0]}[self.layout]()

    def texts(self, x, T, B):
        """(index in the batch, steps) of each sequence."""
        if "cu_seqlens" not in x:
            return [(b, range(T)) for b in range(B)]
        bounds = [int(n) for n in x["cu_seqlens"]]
        return [(0, range(*ends)) for ends in zip(bounds, bounds[1:])]

    def forward(self, x, head_of=lambda h, n: h // n, joined=False):
        """Outputs and final states under the user's names. head_of: the index of the shared head that head h reads, if n heads
        share one. joined: a packed text starts from the final state of the text before it."""
        x = {n: self.to_steps(a) if self.over_steps(n) else a for n, a in x.items()}
        q, k, v, out, initial, final, *_ = NAMES[self.names]
        kind = np.result_type(*x.values(), float)
        q, k, v = x[q], x[k], x[v]
        if self.l2norm is not None:
            q, k = (a / np.sqrt((a * a).sum(-1, keepdims=True) + self.l2norm) for a in (q, k))
        q = q * self.scale(q.shape[-1])
        B, T = q.shape[:2]
        H = max(a.shape[2] for a in (q, k, v))
        beta, decay = (np.broadcast_to(a, (B, T, H, *np.shape(a)[3:])) for a in (self.beta(x), self.decay(x)))
        w = x.get("w", k)
        o, texts = np.zeros((B, T, H, v.shape[-1]), kind), self.texts(x, T, B)
        if self.update is None:
            for b, steps in texts:
                o[b, steps] = softmax(q[b, steps], k[b, steps], v[b, steps], head_of)
            return {out: self.from_steps(o)}
        states = np.zeros((len(texts), H, v.shape[-1], k.shape[-1]), kind)
        for n, (b, steps) in enumerate(texts):
            for h in range(H):
                i, j, m = (head_of(h, H // a.shape[2]) if a.shape[2] < H else h for a in (q, k, v))
                S = states[n, h]
                if initial in x:
                    S = x[initial][n, h] if self.state == "vk" else x[initial][n, h].T
                S = states[n - 1, h] if joined and n else S
                for t in steps:
                    S = self.update(S, k[b, t, j], v[b, t, m], beta[b, t, h], decay[b, t, h], w[b, t, j])
                    o[b, t, h] = S @ q[b, t, i]
                states[n, h] = S
        last = texts[-1][1].stop
        o[:, :last] += by_channel(x["D"]) * v[:, :last] if "D" in x else 0
        o = o * (x["z"] * sigmoid(x["z"]) if "z" in x else 1)
        return {out: self.from_steps(o), final: states if self.state == "vk" else states.swapaxes(2, 3)}

    def gradients(self, x, **how):
        """The gradient of <do, o> + <dstate, state> in every array, under the user's names."""
        *_, out, initial, final, do, dfinal, dinitial = NAMES[self.names]
        weights = (do, dfinal) if final != initial else (do, "dstate")

        def loss(x):
            found = self.forward(x, **how)
            return (found[out] * x[do]).sum() + ((found[final] * x[weights[1]]).sum() if final in found else 0)

        given = {n: a if n == "cu_seqlens" else a.astype(complex) for n, a in x.items()}
        gradients = {}
        for name in set(x) - {*weights, "cu_seqlens"}:
            g = gradients["dh0" if name == "initial_state" else f"d{name}"] = np.zeros(x[name].shape)
            for at in np.ndindex(g.shape):
                here = given[name][at]
                given[name][at] += 1e-30j
                g[at] = loss(given).imag / 1e-30
                given[name][at] = here
        return gradients

    def results(self, x, **how):
        """Outputs and gradients; over steps, NaN after the last packed text."""
        x = {n: a.astype(np.float64) for n, a in x.items()}
        found = {**self.forward(x, **how), **(self.gradients(x, **how) if self.returned("dq") else {})}
        for name, a in found.items():
            if "cu_seqlens" in x and self.over_steps(name):
                self.to_steps(a)[:, int(x["cu_seqlens"][-1]):] = np.nan
        return {n: np.ascontiguousarray(a, np.float32) for n, a in found.items() if self.returned(n)}


def gate_of(x):
    """The raw gate: a, or g under the names of fla."""
    return x["g"] if "g" in x else x["a"]


def rsqrt(Dk):
    return Dk**-0.5


def log(name):
    return lambda x: np.exp(x[name])


def gdn(x):
    return np.exp(-np.exp(x["A_log"]) * softplus(gate_of(x) + x["dt_bias"]))


def kda(x):
    return np.exp(-by_channel(np.exp(x["A_log"])) * softplus(gate_of(x) + x["dt_bias"]))


def kda_lb(x):
    return np.exp(-5 * sigmoid(by_channel(np.exp(x["A_log"])) * (gate_of(x) + x["dt_bias"])))


def of_mamba(x):
    return softplus(x["dt"] + x["dt_bias"]) if "dt_bias" in x else x["dt"]


def forward_alone(name):
    return name in ("o", "out", "state", "final_state", "final_states")


def backward_alone(name):
    return name[0] == "d"


def instead_of(name, **others):
    return lambda x: {**{n: a for n, a in x.items() if n != name}, **others}


def fading(x):
    """Nothing is written, and the state fades by gates that bfloat16 represents badly: g from -7 to -9."""
    return {**x, "beta": 0 * x["beta"], "g": np.float32(-8 + np.sin(np.arange(x["g"].size)).reshape(x["g"].shape))}


FLA = dict(names="fla", layout="bthd", state="kv", scale=rsqrt, decay=log("g"))
VLLM = {**FLA, "state": "vk", "l2norm": 1e-6}
FLASHINFER = {**FLA, "state": "vk", "layout": "thd", "decay": lambda x: x["g"]}
MAMBA = dict(names="mamba", layer="mamba2", layout="bthd", update=of_sum, beta=of_mamba,
             decay=lambda x: np.exp(x["A"] * of_mamba(x)))  # fmt: skip
MAMBA2 = dict(layer="mamba2", update=of_sum, beta=lambda x: x.get("beta", 1))
GLA = dict(layer="gated_linear", update=of_sum, beta=lambda x: 1, decay=kda)
SOFTMAX = dict(layer="softmax", update=None, decay=lambda x: 1, beta=lambda x: 1, scale=rsqrt)
GAMMA = np.float32([0.9, 0.95, 0.97, 0.99])
TEXTS = "--texts 4,0,5"  # of 10 steps
LONG_KEYS = "--kind key-norms"
JOINED = Wrong("every packed text starting from the final state of the one before", kernel={"joined": True})
ONE_TEXT = lacking("has shape [3,4,", "cu_seqlens")
INTERLEAVED = Wrong("h % N in place of h / (H / N)", kernel={"head_of": lambda h, n: h % n})

TABLE = [
    # Libraries
    Row("fla", (read("right with --scale rsqrt", scale=1), read("right with --gate log", gate="log2"),
                read("fit with --state kv", state="vk"), read("right with --beta factor", beta="double"),
                read("fit with --convention fla", convention=None), read("needs [T,H]", convention="flashinfer")),
        dict(convention="fla"), **FLA),
    Row("vllm", (read("right with --l2norm 1e-6", l2norm="none"), read("fit with --state vk", convention="fla")),
        dict(convention="vllm"), LONG_KEYS, **VLLM),
    Row("flashinfer", (read("right with --scale rsqrt", scale=1), read("fit with --gate factor", gate="log"),
                       read("needs [B,T,H]", convention="vllm")), dict(convention="flashinfer"), **FLASHINFER),
    Row("mamba", (read("fit with --convention mamba", convention=None), read("fit with --convention mamba", gate="log"),
                  lacking("dataset A is absent", "A"), read("fit with --layout bthd", layout="bhtd")),
        dict(convention="mamba"), **MAMBA),
    Row("mamba-dt_bias", (lacking("dt (alpha) holds", "dt_bias"),), dict(convention="mamba"),
        change=lambda x: {**x, "dt": x["dt"] - 1, "dt_bias": np.linspace(-1, 1, 4, dtype=np.float32)}, **MAMBA),
    Row("mamba-D-z", (lacking("dataset dD", "D"), lacking("dataset dz", "z")),
        dict(convention="mamba", extra=("D", "z")), **MAMBA),
    Row("mamba-D-z-forward", (lacking("", "D"), lacking("", "z"), lacking("", "D", "z")),
        dict(convention="mamba", extra=("D", "z")), returned=forward_alone, **MAMBA),
    Row("fla-switched", (read("fit with --layout bhtd", layout="bthd"), read("right with --scale 1", scale=None)),
        dict(convention="fla", layout="bhtd", state="vk", gate="factor", scale=1), names="fla", decay=lambda x: x["g"]),
    # Order of dimensions
    Row("bhtd", (read("fit with --layout bhtd", layout="bthd"), read("fit with --layout bhtd", layout="thd"))),
    Row("bthd", (read("fit with --layout bthd", layout=None),), dict(layout="bthd"), layout="bthd"),
    Row("bthd-softmax", (read("right with --layout bthd", layout=None),),
        dict(layout="bthd"), layout="bthd", **SOFTMAX),
    Row("thd", (read("fit with --layout thd", layout=None), read("fit with --layout thd", layout="bthd")),
        dict(layout="thd"), layout="thd"),
    Row("kv", (read("fit with --state kv", state=None),), dict(state="kv"), state="kv"),
    Row("kv-square", (read("right with --state kv", state=None),), dict(state="kv"), state="kv", shape="1,4,10,4,4"),
    # Scale and norm
    Row("scale", (read("", scale=None), read("", scale="rsqrt")), dict(scale=0.3), scale=lambda Dk: 0.3),
    Row("rsqrt", (read("right with --scale rsqrt", scale=None), read("right with --scale rsqrt", scale=0.3)),
        dict(scale="rsqrt"), scale=rsqrt),
    Row("rsqrt-gla", (read("right with --scale rsqrt", scale=1),), dict(scale="rsqrt", gate="kda"), **GLA, scale=rsqrt),
    Row("rsqrt-softmax", (read("right with --scale rsqrt", scale=1), read("right with --scale rsqrt", scale=0.3)),
        dict(scale="rsqrt"), **SOFTMAX),
    Row("scale-1-softmax", (read("right with --scale 1", scale=None), read("right with --scale 1", scale="rsqrt")),
        dict(scale=1), **{**SOFTMAX, "scale": lambda Dk: 1}),
    Row("scale-softmax", (read("", scale=None),), dict(scale=0.3), **{**SOFTMAX, "scale": lambda Dk: 0.3}),
    Row("l2norm", (read("right with --l2norm 1e-6", l2norm=None), read("right with --l2norm 1e-6", l2norm=1e-2)),
        dict(l2norm=1e-6), LONG_KEYS, l2norm=1e-6),
    Row("no-l2norm", (read("no --l2norm", l2norm=1e-6),), sample=LONG_KEYS),
    Row("l2norm-eps", (read("", l2norm=1e-6),), dict(l2norm=1e-2), LONG_KEYS, l2norm=1e-2),
    # Gates
    Row("factor", (read("fit with --gate factor", gate="log"), read("right with --gate factor", gate="rwkv"))),
    Row("log", (read("fit with --gate log", gate=None), read("right with --gate log", gate="log2")),
        dict(gate="log"), decay=log("alpha")),
    Row("log2", (read("fit with --gate log", gate=None), read("right with --gate log2", gate="log")),
        dict(gate="log2"), decay=lambda x: 2 ** x["alpha"]),
    Row("rwkv", (read("fit with", gate=None), read("right with --gate rwkv", gate="log")),
        dict(gate="rwkv"), decay=lambda x: np.exp(-np.exp(x["alpha"]))),
    Row("rwkv7", (read("fit with --gate rwkv", gate=None), read("fit with --gate rwkv", gate="log")),
        dict(gate="rwkv"), layer="rwkv7", update=of_rwkv7, decay=lambda x: np.exp(-np.exp(x["lambda"]))),
    Row("gdn", (read("fit with --gate gdn", gate="log"), read("right with --gate kda", gate="kda-lb"),
                lacking("dataset ddt_bias", "dt_bias"), lacking("A_log is absent", "A_log")),
        dict(gate="gdn"), decay=gdn),
    Row("gdn-forward", (lacking("", "dt_bias"),), dict(gate="gdn"), decay=gdn, returned=forward_alone),
    Row("kda", (read("or --gate kda ", gate="log"), read("right with --gate kda", gate="kda-lb")),
        dict(gate="kda"), layer="kda", decay=kda),
    Row("kda-lb", (read("or --gate kda-lb", gate=None), read("right with --gate kda-lb", gate="kda")),
        dict(gate="kda-lb"), layer="kda", decay=kda_lb),
    Row("kda-gla", (read("right with --gate kda", gate="kda-lb"),), dict(gate="kda"), **GLA),
    Row("gamma", (lacking("alpha is absent", "gamma"), read("fit with --gate factor", gate="log"),
                  read("right with --gate factor", gate="rwkv")),
        change=instead_of("alpha", gamma=GAMMA), **MAMBA2, decay=lambda x: x["gamma"]),
    Row("gamma-fla", (read("right with --gate log", gate="log2"), read("fit with --convention fla", convention=None)),
        dict(convention="fla"), change=instead_of("g", g_gamma=np.log(GAMMA)),
        **{**FLA, **MAMBA2, "decay": log("g_gamma")}),
    # Write strengths
    Row("sigmoid", (read("fit with --beta sigmoid", beta=None),
                    read("right with --beta sigmoid", beta="sigmoid-double")),
        dict(beta="sigmoid"), beta=lambda x: sigmoid(x["b"])),
    Row("double", (read("right with --beta double", beta=None), read("right with --beta double", beta="sigmoid")),
        dict(beta="double"), beta=lambda x: 2 * x["beta"]),
    Row("sigmoid-double", (read("or --beta sigmoid-double", beta=None),
                           read("right with --beta sigmoid-double", beta="sigmoid")),
        dict(beta="sigmoid-double"), beta=lambda x: 2 * sigmoid(x["b"])),
    # Types of single arrays: a kernel that rounds g, which this library holds in float32
    Row("bf16", (read("right with --scale rsqrt", scale=1),), dict(convention="fla"), dtype="bf16", **FLA),
    Row("type-of-g", (read("", types=None),), dict(convention="fla", types={"g": "bf16"}), change=fading, dtype="bf16",
        returned=forward_alone, **{**FLA, "decay": lambda x: np.exp(bfloat16(x["g"]))}),
    # Packed texts: one of them empty, and a step after the last
    *(Row(f"texts-{layout}", (JOINED, ONE_TEXT), dict(layout=layout), TEXTS, layout=layout)
      for layout in ("bhtd", "bthd", "thd")),
    Row("texts-fla", (JOINED, ONE_TEXT), dict(convention="fla"), TEXTS, **FLA),
    Row("texts-vllm", (JOINED, ONE_TEXT), dict(convention="vllm"), TEXTS, **VLLM),
    Row("texts-flashinfer", (JOINED, ONE_TEXT), dict(convention="flashinfer"), TEXTS, **FLASHINFER),
    Row("texts-mamba", (JOINED, ONE_TEXT), dict(convention="mamba", extra=("D", "z")), TEXTS, **MAMBA),
    Row("texts-softmax", (lacking("", "cu_seqlens"),), dict(layout="thd"), TEXTS, layout="thd", **SOFTMAX),
    # Grouped heads
    Row("qk-heads", (INTERLEAVED,), sample="--qk-heads 2"),
    Row("kv-heads", (INTERLEAVED,), sample="--kv-heads 2"),
    Row("qk-heads-mamba", (INTERLEAVED,), dict(convention="mamba"), "--qk-heads 2", **MAMBA),
    Row("kv-heads-softmax", (INTERLEAVED,), sample="--kv-heads 2", **SOFTMAX),
    Row("mqa", (read("right with --scale rsqrt", scale=0.3),), dict(scale="rsqrt"), "--kv-heads 1", **SOFTMAX),
    # A backward pass alone, and everything together
    Row("backward", (read("right with --scale rsqrt", scale=1), read("right with --gate log", gate="log2")),
        dict(convention="fla"), returned=backward_alone, **FLA),
    Row("together", (read("right with --scale rsqrt", scale=1), read("fit with --gate gdn", gate=None),
                     read("right with --beta sigmoid", beta="sigmoid-double"), INTERLEAVED),
        dict(convention="fla", gate="gdn", beta="sigmoid", l2norm=1e-6), f"{TEXTS} --qk-heads 2 {LONG_KEYS}",
        **{**FLA, "decay": gdn, "beta": lambda x: sigmoid(x["b"]), "l2norm": 1e-6}),
]
