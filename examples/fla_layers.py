# SPDX-License-Identifier: Apache-2.0
"""The kernels of flash-linear-attention (fla) and PyTorch's attention as layers of recollect: KERNELS[layer][form].

The kernels get what their users pass: q, k, v, w and beta in the given type, gates as float32 logarithms, states in float32.
Conversions: layout [B,H,T,D] to fla's [B,T,H,D]; states [Dv,Dk] to its [Dk,Dv]; scale 1 in place of 1/sqrt(Dk). All conversions
are PyTorch functions, so that autograd differentiates through them: dalpha is fla's dg divided by alpha. With log_gates the
case holds the logarithms, and dalpha is dg."""
import importlib
import importlib.util
import os
import sys
import types

import numpy as np
import torch

DTYPES = {"f32": torch.float32, "tf32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
WHOLE = ("q", "k", "v", "w")  # [B,H,T,D]; beta, alpha are [B,H,T], lambda [B,H,T,Dk]
# Parameters of the layers with recollect's defaults. --set changes them here and in `recollect check`.
SETTINGS = {"scale": None, "gamma": 0.96875, "u": 1.0, "ridge": 0.01, "householder": 2, "lower": 0.0, "gain": 1.0,
            "shift": 1.5, "d": 0.0, "share": 1.0, "block": 4, "topk": 4, "window": 4, "base": 1.5, "center": -0.2,
            "eps": 1e-6}
# Optional inputs that fla's kernels do not have, or only in the forward pass: `sample --without`.
LEFT_OUT = {"gated_delta_net2": ["w"], "preconditioned_delta": ["lambda"]}


class Inputs:
    """A case's tensors in fla's layout and types. `leaves` are the case's own arrays, which get gradients. `starts` are the first
    steps of packed texts, and the last one's end. H is the number of heads of v; q and k may have fewer."""

    def __init__(self, arrays, dtype, settings, log_gates=False, starts=()):
        self.settings, self.dtype, self.log_gates, self.zero_gate = settings, dtype, log_gates, False
        kept = {name: dtype if name in WHOLE or name == "beta" else torch.float32 for name in arrays}
        self.leaves = {
            name: torch.tensor(np.asarray(array, np.float32), device=DEVICE).to(kept[name]).requires_grad_()
            for name, array in arrays.items() if name not in ("do", "dstate")
        }
        self.q, self.k, self.v = (self.leaves[name].transpose(1, 2).contiguous() for name in "qkv")
        self.B, self.T, _, self.Dk = self.k.shape
        self.H = self.v.shape[2]
        self.texts = dict(cu_seqlens=torch.tensor(starts, device=DEVICE)) if starts else {}

    def given(self, name):
        """[B,T,H] or [B,T,H,Dk]; None if the case has no such input."""
        return self.leaves[name].transpose(1, 2).contiguous() if name in self.leaves else None

    def beta(self):
        beta = self.given("beta")
        return self.k.new_ones(self.B, self.T, self.H) if beta is None else beta

    def logarithm(self, factor):
        """The logarithm of a gate, in float32."""
        self.zero_gate = self.zero_gate or bool((factor == 0).any())
        return factor.double().log().float()

    def log_gate(self, name):
        """The logarithm of alpha or lambda; None if the case has no such gate."""
        gate = self.given(name)
        if gate is None or not self.log_gates:
            return None if gate is None else self.logarithm(gate)
        self.zero_gate = self.zero_gate or bool((gate == -torch.inf).any())
        return gate

    def log_alpha(self):
        gate = self.log_gate("alpha")
        return torch.zeros(self.B, self.T, self.H, device=DEVICE) if gate is None else gate

    def log_decays(self):
        """Logarithm of the decay of every key channel: of lambda, of alpha, or of their product."""
        gate = self.log_alpha()[..., None].expand(self.B, self.T, self.H, self.Dk)
        factor = self.log_gate("lambda")
        return (gate if factor is None else gate + factor).contiguous()

    def in_type(self, x):
        return x.to(self.dtype).contiguous()

    def initial_state(self):
        """[B,H,Dk,rows]"""
        return self.leaves["state"].transpose(2, 3).contiguous() if "state" in self.leaves else None

    def options(self, scale=1.0):
        """Arguments that all kernels of recurrent layers share."""
        scale = scale if self.settings["scale"] is None else self.settings["scale"]
        return dict(scale=scale, initial_state=self.initial_state(), output_final_state=True, **self.texts)


def unit(w):
    """w / |w|, 0 where w is 0."""
    return over_length(w, w)


def over_length(x, w):
    """x / |w|, 0 where w is 0; there its gradient is 0, too."""
    length = w.double().norm(dim=-1, keepdim=True)
    quotient = x.double() / torch.where(length > 0, length, torch.ones_like(length))
    return torch.where(length > 0, quotient, torch.zeros_like(quotient))


def take_first_configuration():
    """Makes Triton's tuner take the first configuration that compiles and fits, instead of the fastest."""
    from triton.runtime.autotuner import Autotuner

    bench = Autotuner._bench

    def first_that_fits(self, *args, config, **meta):
        if self.__dict__.get("fits_call") is self.nargs:  # one was already found for this call
            return [float("inf")] * 3
        self.__dict__["do_bench"] = lambda kernel_call, quantiles: (kernel_call(), [0.0] * 3)[1]
        times = bench(self, *args, config=config, **meta)
        if times[0] == 0:
            self.__dict__["fits_call"] = self.nargs
        return times

    Autotuner._bench = first_that_fits


# ---- The layers: each calls the kernel and returns o [B,T,H,Dv] and the final state, [B,H,Dk,rows] or None ------

def linear(kernel, x):
    return kernel(x.q, x.k, x.v, normalize=False, **x.options())


def unnormalised(kernel, x):  # the same sum by a kernel that also supports decays
    return kernel(x.q, x.k, x.v, **x.options())


def linear_elu(kernel, x):
    q, k = (torch.nn.functional.elu(a) + 1 for a in (x.q, x.k))
    options = x.options()
    if options["initial_state"] is not None:  # S next to z
        start = options["initial_state"]
        options["initial_state"] = start[..., :-1].contiguous(), start[..., -1][:, None].contiguous()
    o, (S, z) = kernel(q, k, x.v, normalize=True, **options)
    return o, torch.cat([S, z.float().squeeze(1)[..., None]], -1)


def retnet(kernel, x):
    gamma = torch.full((x.H,), x.settings["gamma"], device=DEVICE, dtype=torch.float64).log().float()
    return kernel(x.q, x.k, x.v, g_gamma=gamma, **x.options())


def retnet_by_step(kernel, x):
    gate = torch.full((x.B, x.T, x.H), x.settings["gamma"], device=DEVICE, dtype=torch.float64).log().float()
    return kernel(x.q, x.k, x.v, g=gate, **x.options())


def mamba2(kernel, x):
    k = x.in_type(x.k.float() * x.beta().float()[..., None])
    return kernel(x.q, k, x.v, g=x.log_alpha(), **x.options())


def log_linear_mamba2(kernel, x):
    """In fla all heads share q and k, so each head is passed as a text of its own. Its kernel reads the weights of at least the
    seven levels of a chunk of 64 steps."""
    def texts(a):  # [B,T,H,...] to [B H,T,1,...]
        return a.transpose(1, 2).flatten(0, 1).unsqueeze(2).contiguous()

    k = x.in_type(x.k.float() * x.beta().float()[..., None])
    levels, w = max(7, (x.T - 1).bit_length() + 1), x.given("w")
    weights = x.q.new_ones(x.B, x.T, x.H, levels) if w is None else w[..., torch.arange(levels, device=DEVICE) % x.Dk]
    o = kernel(*(texts(a) for a in (x.q, k, x.v, x.log_alpha(), weights)))[0]
    return o.squeeze(2).unflatten(0, (x.B, x.H)).transpose(1, 2), None


def gated_linear(kernel, x):
    return kernel(x.q, x.k, x.v, x.log_decays(), **x.options())


def hgrn2(kernel, x):
    keep = kept(x)
    return kernel(x.q, x.in_type(1 - keep), x.v, x.logarithm(keep), **x.options())


def kept(x):
    """The forget gates of HGRN, in float64."""
    lower, factor = x.settings["lower"], x.given("lambda")
    if factor is not None and x.log_gates:
        factor = factor.double().exp()
    return lower + (1 - lower) * (1 if factor is None else factor.double()) * torch.sigmoid(-x.k.double())


def hgrn(kernel, x):
    Dv = x.v.shape[-1]
    channels = torch.arange(Dv, device=DEVICE) % x.Dk
    keep = kept(x)[..., channels]
    start = x.initial_state()
    o, state = kernel(x.in_type((1 - keep) * x.v.double()).flatten(2), x.logarithm(keep).flatten(2).contiguous(),
                      initial_state=None if start is None else start.reshape(x.B, -1), output_final_state=True)
    return x.q[..., channels] * o.unflatten(2, (x.H, Dv)), state.reshape(x.B, x.H, 1, Dv)


def rwkv6(kernel, x):
    """fla's bonus is one vector per head. If w may change from step to step, the kernel gets no bonus and it is added here."""
    w = x.given("w")
    same = w is not None and not torch.is_grad_enabled() and bool((w == w[:1, :1]).all())
    constant = x.settings["u"] if w is None else 0.0
    bonus = w[0, 0] if same else x.in_type(torch.full((x.H, x.Dk), constant, device=DEVICE))
    o, state = kernel(x.q, x.k, x.v, x.log_decays(), bonus, **x.options())
    if w is not None and not same:
        o = o.float() + (x.q.float() * w.float() * x.k.float()).sum(-1, keepdim=True) * x.v.float()
    return o, state


def rwkv7(kernel, x):
    key, beta = unit(x.given("w")), x.beta().double()[..., None]
    return kernel(x.q, x.log_decays(), x.k, x.v, x.in_type(-key), x.in_type(beta * key), **x.options())


def rwkv7_published(kernel, x):
    w = x.given("w")
    w = x.k if w is None else w
    erase = x.beta().double()[..., None] * over_length(w, x.k)
    key = x.in_type((1 - x.settings["share"]) * x.k.double() + x.settings["share"] * w.double())
    return kernel(x.q, x.log_decays(), key, x.v, x.in_type(-unit(x.k)), x.in_type(erase), **x.options())


def gated_slot_attention(kernel, x):
    w, keep = x.given("w"), x.given("lambda")
    if w is None:
        w = x.in_type(1 - (keep.exp() if x.log_gates else keep))
    options, Dv = x.options(), x.v.shape[-1]
    if options["initial_state"] is not None:  # V next to K
        start = options["initial_state"]
        options["initial_state"] = start[..., Dv:].contiguous(), start[..., :Dv].contiguous()
    o, (keys, values) = kernel(x.q, x.k, x.v, w, x.log_decays(), **options)
    return o, torch.cat([values, keys], -1)


def abc(kernel, x, chunk=1):
    """fla's backward pass ignores the gradient of the final state, so that state is not returned with gradients. An initial
    state would need z, the logarithm of its sum of weights, which fla does not take. If T is no multiple of the chunk, the final
    states of fla's kernel are sums that are not divided by e^z, unlike those of its reference; they are divided here."""
    no_state(x)
    w = x.given("w")
    w = x.k if w is None else w
    scale = 1.0 if x.settings["scale"] is None else x.settings["scale"]  # the kernel multiplies q by 1/sqrt(Dk)
    o, (keys, values) = kernel(x.in_type(x.q.float() * (scale * x.Dk**0.5)), x.k, x.v, w, output_final_state=True)
    if torch.is_grad_enabled():
        return o, None
    z = w.float().logsumexp(1)[..., None]
    share = torch.exp(-z) if x.T % chunk else 1
    return o, torch.cat([values.float() * share, (keys.float().transpose(2, 3) * share).transpose(2, 3), z], -1)


def path_attention(kernel, x):
    w, scale = x.given("w"), x.settings["scale"]
    w = (x.k if w is None else w).float()
    return kernel(x.q, x.k, x.v, w, x.beta().float(), scale=x.Dk**-0.5 if scale is None else scale)[0], None


def scalar_gated_delta(kernel, x):
    gate = x.logarithm(x.given("beta"))[..., None].expand(x.B, x.T, x.H, x.Dk).contiguous()
    return kernel(x.q, gate, x.k, x.v, -x.k, x.k, **x.options())


def delta_net(kernel, x):
    return kernel(x.q, x.k, x.v, x.beta(), **x.options())


def gated_delta_net(kernel, x):
    return kernel(x.q, x.k, x.v, g=x.log_alpha(), beta=x.beta(), **x.options())


def kda(kernel, x):
    return kernel(x.q, x.k, x.v, g=x.log_decays(), beta=x.beta(), **x.options())


def gated_delta_net2(kernel, x):
    """fla's erase key is the key times a strength per channel, here w / k if w is given. Then dk would be a difference of large
    terms where a channel of k is small, so only the forward pass runs."""
    w, beta = x.given("w"), x.beta().double()[..., None]
    erase = beta.expand(x.k.shape)
    if w is not None:
        if torch.is_grad_enabled():
            raise NotImplementedError("no gradients with w: the strengths are w / k; leave w out")
        if bool(((x.k == 0) & (w != 0)).any()):
            raise NotImplementedError("the erase key is not 0 where the key is 0")
        erase = beta * torch.where(x.k == 0, 0, w.double() / x.k.double())
    return kernel(x.q, x.k, x.v, x.log_decays(), x.in_type(erase), x.in_type(beta.expand(x.v.shape)), **x.options())


def preconditioned_delta(kernel, x):
    """The squares' sum A is the last column of the state. fla can normalise q and k, which is not part of the layer."""
    if "lambda" in x.leaves:
        raise NotImplementedError("the kernel has one decay of A for all channels; leave lambda out")
    options, steps = x.options(), torch.zeros(x.B, x.T, x.H, device=DEVICE)
    if options["initial_state"] is not None:
        start = options["initial_state"]
        options.update(initial_state=start[..., :-1].contiguous(), initial_A_state=start[..., -1].contiguous())
    o, S, A = kernel(q=x.q, k=x.k, v=x.v, g_atk=steps, g=x.log_alpha(), beta_atk=steps + 1, beta=x.beta(),
                     use_qk_l2norm_in_kernel=False, x=x.settings["base"], eps=x.settings["eps"],
                     log_atk_scale=torch.full((x.H,), x.settings["center"], device=DEVICE), **options)
    return o, torch.cat([S.float(), A.float()[..., None]], -1)


def comba(kernel, x):
    w = x.given("w")
    p = x.k if w is None else w
    q = x.in_type(x.q - x.settings["d"] * p)
    return kernel(q=q, k=x.k, v=x.v, p=p, g=x.log_alpha(), beta=x.beta(), **x.options())


def gated_oja(kernel, x):
    """fla's tests normalise the values before they call the kernel. Its gates are those of value channels."""
    gates = x.log_decays()[..., torch.arange(x.v.shape[-1], device=DEVICE) % x.Dk]
    return kernel(x.q, x.k, x.in_type(unit(x.v)), gates.contiguous(), x.beta(), **x.options())


def delta_product(kernel, x, gated=False):
    steps, w = int(x.settings["householder"]), x.given("w")
    others = x.k if w is None else w
    keys = torch.stack([x.k if (steps - 1 - j) % 2 == 0 else others for j in range(steps)], 2).flatten(1, 2)
    repeat = lambda a: a.repeat_interleave(steps, 1)  # noqa: E731
    repeated = dict(beta=repeat(x.beta()), num_householder=steps)
    return kernel(x.q, keys.contiguous(), repeat(x.v), g=x.log_alpha() if gated else None, **repeated,
                  **x.options())


def gated_delta_product(kernel, x):
    return delta_product(kernel, x, gated=True)


def mesa(kernel, x):
    """fla solves by 30 steps of conjugate gradients and rounds q and k to float16. Its states are k k^T and k v^T."""
    ridge = torch.full((x.H, x.Dk), x.settings["ridge"], device=DEVICE)
    start, Dv = x.initial_state(), x.v.shape[-1]
    both = {} if start is None else dict(h_kv_init=start[..., :Dv].contiguous(), h_kk_init=start[..., Dv:].contiguous())
    o, kk, kv = kernel(x.q, x.k, x.v, g=x.log_alpha(), beta=x.beta().float(), lamb=ridge, **both)
    return o, None if kk is None else torch.cat([kv, kk], -1)


def attention(kernel, x, **gates):
    scale = x.settings["scale"]
    return kernel(x.q, x.k, x.v, scale=x.Dk**-0.5 if scale is None else scale, **gates), None


def gated_softmax(kernel, x):
    return attention(kernel, x, g=x.log_alpha())


def softmax_qknorm(kernel, x):
    x.q, x.k = x.in_type(unit(x.q)), x.in_type(unit(x.k))
    return attention(kernel, x)


def nsa(kernel, x):
    """fla's kernels take groups of 16 query heads that share their blocks (here 16 copies of one head), and at least twice as
    many tokens per block as blocks. Their sliding branch needs flash-attn; it is computed here instead."""
    group, scale = 16, x.Dk**-0.5 if x.settings["scale"] is None else x.settings["scale"]

    def gate(name):
        given = x.given(name)
        if given is None:
            return torch.ones(x.B, x.T, x.H, device=DEVICE)
        given = (given[..., 0] if name == "lambda" else given).float()
        return given.exp() if x.log_gates and name != "beta" else given

    q, compressed, selected = (a.repeat_interleave(group, 2) for a in (x.q, gate("alpha"), gate("beta")))
    o = kernel(q, x.k, x.v, compressed, selected, block_counts=int(x.settings["topk"]),
               block_size=int(x.settings["block"]), scale=scale)[:, :, ::group]
    before = torch.arange(x.T, device=DEVICE)[:, None] - torch.arange(x.T, device=DEVICE)
    logits = torch.einsum("bthd,bshd->bhts", x.q.float(), x.k.float()) * scale
    logits = logits.masked_fill((before < 0) | (before >= x.settings["window"]), -torch.inf)
    read = torch.einsum("bhts,bshd->bthd", logits.softmax(-1), x.v.float())
    return o + gate("lambda")[..., None] * read, None


def based(kernel, x):
    no_state(x)
    return kernel(x.q, x.k, x.v, scale=1.0 if x.settings["scale"] is None else x.settings["scale"]), None


def rebased(kernel, x):
    no_state(x)
    normed = lambda a: torch.nn.functional.layer_norm(a.float(), (x.Dk,), eps=1e-5)  # noqa: E731
    q, k = (x.in_type(normed(a) * x.settings["gain"] + x.settings["shift"]) for a in (x.q, x.k))
    return kernel(q, k, x.v), None


def no_state(x):
    if "state" in x.leaves:
        raise NotImplementedError("the kernel takes no initial state")


# ---- The kernels --------------------------------------------------------------------------------

def torch_attention(backend):
    def attend(q, k, v, scale):
        from torch.nn.attention import SDPBackend, sdpa_kernel

        with sdpa_kernel(getattr(SDPBackend, backend)):
            q, k, v = (a.transpose(1, 2) for a in (q, k, v))
            o = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True, scale=scale)
            return o.transpose(1, 2)

    return attend


def naive(path, name, adapt=lambda reference: reference):
    """One of fla's PyTorch references, loaded from its file, because importing fla needs Triton."""
    def load():
        found = importlib.util.find_spec("fla")
        if not found:
            raise SystemExit("fla_kernels.py: no fla: name the checkout of flash-linear-attention in PYTHONPATH")
        if "einops" not in sys.modules and not importlib.util.find_spec("einops"):
            sys.modules["einops"] = types.ModuleType("einops")
            sys.modules["einops"].rearrange = None  # they do not call it
            sys.modules["einops"].repeat = lambda a, axes, g: a.repeat_interleave(g, axes.split("->")[0].split().index("h"))
        file = os.path.join(found.submodule_search_locations[0], "ops", *path.split("/")) + ".py"
        spec = importlib.util.spec_from_file_location("naive", file)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return adapt(getattr(module, name))

    return load


def kernel_of_fla(path):
    module, name = path.rsplit(".", 1)
    return lambda: getattr(importlib.import_module("fla.ops." + module), name)


def heads_first(reference, has_scale=True):
    """A reference on [B,H,T,D]; a reference without `scale` multiplies queries by 1/sqrt(Dk)."""
    def call(q, *rest, scale, **options):
        if has_scale:
            options["scale"] = scale
        else:
            q = q * (scale * q.shape[-1] ** 0.5)
        result = reference(q.transpose(1, 2), *(a.transpose(1, 2) for a in rest), **options)
        o, state = result if isinstance(result, tuple) else (result, None)
        return (o.transpose(1, 2), state) if isinstance(result, tuple) else o.transpose(1, 2)

    return call


def naive_gla(reference):
    return lambda q, k, v, g, scale, **options: reference(q * (scale * q.shape[-1] ** 0.5), k, v, g, **options)


def naive_rwkv6(reference):
    def call(r, k, v, w, u, **options):
        o, state = reference(*(a.transpose(1, 2) for a in (r, k, v, w)), u, **options)
        return o.transpose(1, 2), state

    return call


def naive_dplr(reference):
    moved = heads_first(reference, has_scale=False)
    return lambda r, w, k, v, a, b, **options: moved(r, k, v, a, b, w, **options)


def naive_abc(reference):
    def call(*arrays, output_final_state):
        o, states = reference(*(a.transpose(1, 2) for a in arrays), output_final_state=output_final_state)
        return o.transpose(1, 2), states

    return call


def naive_preconditioned(reference):
    """The reference normalises q and k: unit keys stay what they are, and the read is multiplied by the query's length."""
    def call(q, k, v, *, use_qk_l2norm_in_kernel, **options):
        if torch.is_grad_enabled() or bool(((k.norm(dim=-1) - 1).abs() > 1e-6).any()):
            raise NotImplementedError("the reference normalises keys")
        o, S, A = reference(q, k, v, **options)
        return o * q.norm(dim=-1, keepdim=True), S, A

    return call


def naive_path(reference):
    def call(q, k, v, w, beta, scale):
        return reference(q, k, v, w, beta, torch.zeros_like(beta), scale), None

    return call


def naive_nsa():
    """fla's reference. What it imports from modules that need Triton is replaced where that is missing."""
    def pooled(a, size, cu_seqlens=None):
        return torch.stack([block.mean(1) for block in a.split(size, 1)], 1)

    imported = {"fla.ops.utils": {"prepare_chunk_offsets": None}, "fla.ops.utils.pooling": {"mean_pooling": pooled}}
    for name, functions in imported.items():
        if not importlib.util.find_spec("triton"):
            vars(sys.modules.setdefault(name, types.ModuleType(name))).update(functions)
    return naive("nsa/naive", "naive_nsa")()


def naive_attention(reference):
    return lambda q, k, v, scale, **gates: reference(q.float(), k.float(), v.float(), scale=scale, **gates)[0]


def naive_rebased(reference):
    moved = heads_first(reference)
    return lambda q, k, v: moved(q, k, v, scale=q.shape[-1] ** -0.5)


def without(names, load):
    """The kernel without the arguments `names`; inputs for them are refused."""
    def loaded():
        kernel = load()

        def call(*args, **options):
            for name in names:
                if isinstance(options.pop(name, None), torch.Tensor):
                    raise NotImplementedError(f"the kernel takes no {name}")
            return kernel(*args, **options)

        return call

    return loaded


SIMPLE = {form: kernel_of_fla(f"simple_gla.{form}_simple_gla") for form in ("chunk", "fused_chunk", "fused_recurrent")}
PARALLEL = without(["initial_state", "output_final_state"], kernel_of_fla("simple_gla.parallel_simple_gla"))
NAIVE_SIMPLE = naive("simple_gla/naive", "naive_recurrent_simple_gla")
LINEAR = {form: kernel_of_fla(f"linear_attn.{form}_linear_attn") for form in SIMPLE}
LINEAR["naive"] = naive("linear_attn/naive", "naive_recurrent_linear_attn")
GLA = {"chunk": kernel_of_fla("gla.chunk_gla"), "fused_recurrent": kernel_of_fla("gla.fused_recurrent_gla"),
       "naive": naive("gla/naive", "naive_recurrent_gla", naive_gla)}
DPLR = {"chunk": kernel_of_fla("rwkv7.chunk_rwkv7"), "fused_recurrent": kernel_of_fla("rwkv7.fused_recurrent_rwkv7"),
        "naive": naive("generalized_delta_rule/dplr/naive", "dplr_recurrence", naive_dplr)}
NAIVE_PRODUCT = naive("gated_delta_product/naive", "naive_recurrent_gated_delta_product",
                      lambda f: lambda *a, **o: f(*a, cu_seqlens=None, **o))
ATTENTION = {"parallel": kernel_of_fla("attn.parallel_attn"),
             "naive": naive("attn/naive", "naive_parallel_attn", naive_attention),
             "sdpa_flash": lambda: torch_attention("FLASH_ATTENTION"),
             "sdpa_efficient": lambda: torch_attention("EFFICIENT_ATTENTION"),
             "sdpa_cudnn": lambda: torch_attention("CUDNN_ATTENTION"),
             "sdpa_math": lambda: torch_attention("MATH")}


def both(layer, pattern, reference):
    names = {form: kernel_of_fla(pattern.format(form)) for form in ("chunk", "fused_recurrent")}
    return {form: (layer, load) for form, load in {**names, "naive": reference}.items()}


def all_of(layer, kernels):
    return {form: (layer, load) for form, load in kernels.items()}


# layer -> form -> (the function that calls the kernel, the function that loads it)
KERNELS = {
    "linear": {**all_of(linear, LINEAR), "parallel": (lambda kernel, x: (unnormalised(kernel, x)[0], None), PARALLEL)},
    "linear_elu": all_of(linear_elu, LINEAR),
    "retnet": {**all_of(retnet, SIMPLE), "naive": (retnet_by_step, NAIVE_SIMPLE)},
    "mamba2": {**all_of(mamba2, SIMPLE), "naive": (mamba2, NAIVE_SIMPLE),
               "parallel": (lambda kernel, x: (mamba2(kernel, x)[0], None), PARALLEL)},
    "log_linear_mamba2": {"chunk": (log_linear_mamba2, kernel_of_fla("log_linear_attn.chunk_log_linear_attn")),
                          "naive": (log_linear_mamba2, naive("log_linear_attn/naive", "naive_log_linear_attn",
                                                             lambda f: lambda *a: (f(*a), None)))},
    "gated_linear": all_of(gated_linear, GLA),
    "hgrn2": all_of(hgrn2, GLA),
    "hgrn": {"chunk": (hgrn, kernel_of_fla("hgrn.chunk_hgrn")),
             "fused_recurrent": (hgrn, kernel_of_fla("hgrn.fused_recurrent_hgrn")),
             "naive": (hgrn, naive("hgrn/naive", "naive_recurrent_hgrn"))},
    "rwkv6": both(rwkv6, "rwkv6.{}_rwkv6", naive("rwkv6/recurrent_naive", "naive_recurrent_rwkv6", naive_rwkv6)),
    "rwkv7": all_of(rwkv7, DPLR),
    "rwkv7_published": all_of(rwkv7_published, DPLR),
    "scalar_gated_delta": all_of(scalar_gated_delta, DPLR),
    "delta_net": both(delta_net, "delta_rule.{}_delta_rule",
                      naive("delta_rule/naive", "delta_rule_recurrence", lambda f: heads_first(f, has_scale=False))),
    "gated_delta_net": both(gated_delta_net, "gated_delta_rule.{}_gated_delta_rule",
                            naive("gated_delta_rule/naive", "naive_recurrent_gated_delta_rule")),
    "gated_delta_net2": both(gated_delta_net2, "gdn2.{}_gdn2", naive("gdn2/naive", "naive_recurrent_gdn2")),
    "preconditioned_delta": both(preconditioned_delta, "precond_gated_delta_rule.{}_precond_gated_delta_rule",
                                 naive("precond_gated_delta_rule/naive", "naive_recurrent_precond_gated_delta_rule",
                                       naive_preconditioned)),
    "kda": both(kda, "kda.{}_kda", naive("kda/naive", "naive_recurrent_kda")),
    "delta_product": {"chunk": (delta_product, kernel_of_fla("gated_delta_product.chunk_gated_delta_product")),
                      "naive": (delta_product, NAIVE_PRODUCT)},
    "gated_delta_product": {
        "chunk": (gated_delta_product, kernel_of_fla("gated_delta_product.chunk_gated_delta_product")),
        "naive": (gated_delta_product, NAIVE_PRODUCT)},
    "comba": both(comba, "comba.{}_comba", naive("comba/naive", "naive_recurrent_comba")),
    "gated_oja": {form: (gated_oja, kernel_of_fla(f"gated_oja_rule.{form}_gated_oja_rule"))  # fla has no reference
                  for form in ("chunk", "fused_recurrent")},
    "mesa": {"chunk": (lambda kernel, x: mesa(lambda *a, **o: kernel(*a, output_final_state=True, **o), x),
                       kernel_of_fla("mesa_net.chunk_mesa_net")),
             "naive": (mesa, naive("mesa_net/naive", "naive_mesa_net_exact"))},
    "softmax": all_of(attention, ATTENTION),
    "softmax_qknorm": all_of(softmax_qknorm, ATTENTION),
    "gated_softmax": {"parallel": (gated_softmax, kernel_of_fla("forgetting_attn.parallel_forgetting_attn")),
                      "naive": (gated_softmax, ATTENTION["naive"])},
    "abc": {"chunk": (lambda kernel, x: abc(kernel, x, chunk=64), kernel_of_fla("abc.chunk_abc")),
            "naive": (abc, naive("abc/naive", "naive_recurrent_abc", naive_abc))},
    "gated_slot_attention": both(gated_slot_attention, "gsa.{}_gsa", naive("gsa/naive", "naive_recurrent_gsa")),
    "path_attention": all_of(path_attention, {"parallel": kernel_of_fla("path_attn.parallel_path_attn"),
                                              "naive": naive("path_attn/naive", "naive_path_attn", naive_path)}),
    "nsa": all_of(nsa, {"parallel": kernel_of_fla("nsa.parallel_nsa"), "naive": naive_nsa}),
    "based": all_of(based, {"parallel": kernel_of_fla("based.parallel_based"),
                            "fused_chunk": kernel_of_fla("based.fused_chunk_based"),
                            "naive": naive("based/naive", "naive_parallel_based", heads_first)}),
    "rebased": all_of(rebased, {"parallel": kernel_of_fla("rebased.parallel_rebased"),
                                "naive": naive("rebased/naive", "naive_parallel_rebased", naive_rebased)}),
}
