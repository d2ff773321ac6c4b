# SPDX-License-Identifier: Apache-2.0
"""Kernels of installed libraries: fla (flash-linear-attention), PyTorch's attention by backend, mamba_ssm, flashinfer.

captured() converts the tensors of a case to the arguments of a kernel: layout, types, logarithms of gates, feature maps, and
whatever else the kernel does not compute itself (examples/fla_layers.py lists this for fla). Only the call of the kernel with
these arguments is timed. q, k, v, w and beta have the storage type; gates and states are float32."""
import importlib.util
import os
import sys

import torch

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "examples"))
import fla_layers  # noqa: E402

# Layers whose kernels take an initial state [Dv,Dk] and return the final one.
WITH_STATE = ("linear", "retnet", "mamba2", "gated_linear", "hgrn2", "rwkv6", "rwkv7", "scalar_gated_delta", "delta_net",
              "gated_delta_net", "gated_delta_net2", "kda")
# Layers that are timed with packed texts and grouped heads. fla's kernels for all these layers take cu_seqlens.
PACKED = ("linear", "retnet", "mamba2", "gated_linear", "delta_net", "gated_delta_net")
# Layers whose kernels in fla let several heads of v share a head of q and k. For other layers, q and k are repeated.
GROUPED = ("gated_delta_net",)
# Layers with gates for which fla may refuse the backward pass: on some GPUs, Triton compiles its kernel wrongly.
GATED_BACKWARD = ("mamba2", "gated_delta_net")
# (library, layer) -> how the library's kernel differs from our layer. Outputs are compared nevertheless, unless NOT_COMPARED
# has the same key.
NOTES = {
    ("fla", "linear_elu"): "fla gets elu + 1 of q and k",
    ("fla", "mamba2"): "fla gets k times beta",
    ("fla", "gated_delta_net2"): "fla gets the erase key as strengths w / k",
    ("fla", "log_linear_mamba2"): "fla gets every head as a text, and k times beta",
    ("fla", "retnet"): "one decay for all heads",
    ("fla", "gated_linear"): "fla gets one gate per channel, the product of both",
    ("fla", "rwkv6"): "fla's kernel has one bonus for all steps",
    ("fla", "hgrn"): "fla's kernel leaves the product with q to others",
    ("fla", "mesa"): "fla: 30 steps of conjugate gradients",
    ("mamba_ssm", "mamba2"): "its gates are exp(dt A) of its own dt and A",
}
NOT_COMPARED = {("mamba_ssm", "mamba2")}
SDPA = {"torch-flash": "sdpa_flash", "torch-efficient": "sdpa_efficient", "torch-cudnn": "sdpa_cudnn", "torch-math": "sdpa_math"}


def random_like(x):
    """Standard normal numbers in the shape of x. They come from a separate generator, because PyTorch's default generator does
    not work any more after the recording of a CUDA graph has failed."""
    return torch.randn(x.shape, dtype=x.dtype, device=x.device, generator=torch.Generator(x.device).manual_seed(1))


class Captured:
    """A kernel, the arguments of its first call, and the output o of the layer from this call."""

    def __init__(self, kernel, args, options, o):
        self.kernel, self.args, self.options, self.o = kernel, args, options, o

    def tensors(self):
        return [x for x in (*self.args, *self.options.values()) if isinstance(x, torch.Tensor)]

    def bytes_moved(self):
        return sum(x.numel() * x.element_size() for x in [*self.tensors(), self.o])

    def copy(self):
        """A copy with separate tensors. cu_seqlens is not copied: fla caches the chunks of this tensor, and for a new tensor it
        would count them again and wait for the device."""
        own = lambda x: x.detach().clone() if isinstance(x, torch.Tensor) and x.is_floating_point() else x  # noqa: E731
        return Captured(self.kernel, [own(x) for x in self.args], {n: own(x) for n, x in self.options.items()}, self.o)

    def __call__(self):
        return self.kernel(*self.args, **self.options)

    def backward(self):
        """Runs the forward pass, and returns a function that computes the gradients of all floating-point arguments."""
        leaf = lambda x: x.detach().requires_grad_() if isinstance(x, torch.Tensor) and x.is_floating_point() else x  # noqa: E731
        args, options = [leaf(x) for x in self.args], {n: leaf(x) for n, x in self.options.items()}
        leaves = [x for x in (*args, *options.values()) if isinstance(x, torch.Tensor) and x.requires_grad]
        with torch.enable_grad():
            found = self.kernel(*args, **options)
        ends = [x for x in (found if isinstance(found, tuple) else (found,)) if isinstance(x, torch.Tensor) and x.requires_grad]
        weights = [random_like(x) for x in ends]
        return lambda: torch.autograd.grad(ends, leaves, weights, retain_graph=True, allow_unused=True)


def captured(layer, load, inputs):
    """Runs the layer once, with the kernel that load() returns. `layer` is an adapter: it converts `inputs` and calls the
    kernel. Returns the kernel with its arguments, and the output [B,T,H,Dv]."""
    kernel, seen = load(), {}

    def watched(*args, **options):
        seen.update(args=args, options=options)
        return kernel(*args, **options)

    with torch.no_grad():
        o = layer(watched, inputs)[0]
    return Captured(kernel, seen["args"], seen["options"], o)


def refuse_wrong_gradients():
    """NotImplementedError if fla refuses the backward pass of gates on this GPU. This function calls only the kernel that
    refuses, because in a whole backward pass other kernels would be compiled and tuned first."""
    from fla.ops.common.chunk_o import chunk_bwd_dqkwg

    try:
        chunk_bwd_dqkwg(*[None] * 6, g=torch.ones(1))
    except Exception as answer:  # it refuses before it looks at its other arguments
        if "incorrect results" in str(answer):
            raise NotImplementedError(str(answer)) from None


def fla_form(variant, T):
    """The form that fla uses: recurrent for one step, else chunked."""
    forms = fla_layers.KERNELS[variant]
    wanted = ("fused_recurrent", "parallel") if T == 1 else ("chunk", "parallel")
    return next((form for form in wanted if form in forms), None)


def refusing(load):
    """A loader of the kernel that load() returns. The kernel then raises NotImplementedError, instead of RuntimeError, for a
    type or a width that it does not support."""
    def loaded():
        kernel = load()

        def call(*args, **options):
            try:
                return kernel(*args, **options)
            except RuntimeError as error:
                if "No available kernel" in str(error):
                    raise NotImplementedError("PyTorch: no kernel of this backend for the type and width") from None
                raise

        return call

    return loaded


def adapters(variant, T):
    """[(library, adapter of the layer, loader of its kernel)]. A loader raises NotImplementedError if the library is not
    installed."""
    installed = lambda name: importlib.util.find_spec(name) is not None  # noqa: E731
    absent = lambda name: lambda: (_ for _ in ()).throw(NotImplementedError(f"{name} is not installed"))  # noqa: E731
    found = []
    if variant in fla_layers.KERNELS and fla_form(variant, T):
        layer, load = fla_layers.KERNELS[variant][fla_form(variant, T)]
        found.append(("fla", layer, load if installed("fla") else absent("fla")))
    if variant == "softmax":
        found += [(source, fla_layers.KERNELS[variant][form][0], refusing(fla_layers.KERNELS[variant][form][1]))
                  for source, form in SDPA.items()]
    if variant == "mamba2":
        found.append(("mamba_ssm", mamba, load_mamba if installed("mamba_ssm") else absent("mamba_ssm")))
    if variant == "gated_delta_net":
        found.append(("flashinfer", packed_gated_delta, load_flashinfer if installed("flashinfer") else absent("flashinfer")))
    return found


def load_mamba():
    from mamba_ssm.ops.triton.ssd_combined import mamba_chunk_scan_combined

    return mamba_chunk_scan_combined


def mamba(kernel, x):
    """Calls the kernel with x = v, B = k and C = q (left: its names, right: ours), one group per head, a random dt, and A =
    -1."""
    dt = torch.rand(x.B, x.T, x.H, device=x.q.device) * 0.2
    A = -torch.ones(x.H, device=x.q.device)
    return kernel(x.v, dt, A, x.k, x.q, chunk_size=64, initial_states=x.initial_state(), return_final_states=True)


def load_flashinfer():
    from flashinfer.gdn_prefill import chunk_gated_delta_rule

    return chunk_gated_delta_rule


def packed_gated_delta(kernel, x):
    """flashinfer takes concatenated texts, [B T,H,D], and gates as factors."""
    flat = lambda a: a.flatten(0, 1).contiguous()  # noqa: E731
    ends = torch.arange(x.B + 1, device=x.q.device, dtype=torch.int64) * x.T
    o, state = kernel(flat(x.q), flat(x.k), flat(x.v), g=flat(x.log_alpha().exp()), beta=flat(x.beta().float()), scale=1.0,
                      output_final_state=True, cu_seqlens=ends)
    return o.unflatten(0, (x.B, x.T)), state
