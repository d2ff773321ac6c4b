# SPDX-License-Identifier: Apache-2.0
"""Runs the kernels of flash-linear-attention (fla), and PyTorch's attention, on the cases of a battery:

    recollect sample gated_delta_net --battery in --dtype bf16
    fla_kernels.py gated_delta_net chunk bf16 in out
    recollect check gated_delta_net --battery in -c out --dtype bf16

Usage: fla_kernels.py LAYER FORM DTYPE INDIR OUTDIR [--grad] [--log-gates] [--set NAME=VALUE ...] [--tune]
           [--seconds N]

LAYER is a layer of recollect and FORM one of fla's forms of it; without arguments the script lists both. FORM `naive` is fla's
own PyTorch reference in float32, which needs no GPU. Python must find fla (PYTHONPATH). DTYPE is f32, tf32, f16 or bf16. f32
and tf32 have the same float32 inputs; with f32 Triton multiplies in full float32, with tf32 in the tensor cores' TF32, its
default. fla_layers.py says how inputs and outputs are converted.

With --log-gates the cases hold the logarithms of alpha and lambda, as `sample --gate log` writes them. dalpha and dlambda are
then the gradients of the logarithms, which the kernels compute. A gradient of the gate itself would be divided by the gate,
which magnifies rounding if the gate is small.

Some kernels lack an optional input of the layer, such as w of gated_delta_net2; `sample --without w` leaves it out.

With --grad a case holds do (and dstate of the final state). The output also has dq, dk, dv, ... and dstate of the initial
state.

A case that a kernel does not support is named in OUTDIR/refused.json with the reason. If a gate is exactly 0, the kernel gets
its logarithm, minus infinity. The case is refused if the result is NaN, and always with --grad, because a logarithm of 0 has no
derivative. Cases that OUTDIR already contains, or that are refused there, are not run again.

fla tunes every kernel at its first call of a shape, which takes seconds to minutes. Here the first configuration that fits the
GPU is used; with --tune fla chooses. With --seconds no case starts after that time; it is refused as "no time"."""
import argparse
import glob
import json
import os
import sys
import time

import numpy as np
import torch
from fla_layers import DEVICE, DTYPES, KERNELS, SETTINGS, Inputs, take_first_configuration


def computed(layer, kernel, arrays, args):
    """o, state and the gradients of one case, as NumPy arrays in recollect's layout."""
    x = Inputs(arrays, DTYPES[args.dtype], args.settings, args.log_gates)
    with torch.set_grad_enabled(args.grad):
        o, state = layer(kernel, x)
        o, state = o.transpose(1, 2), None if state is None else state.transpose(2, 3)
    if args.grad and state is None and "dstate" in arrays:
        raise NotImplementedError("no gradient of the final state")
    if x.zero_gate and args.grad:
        raise NotImplementedError("a gate of 0: its logarithm has no derivative")
    outputs = {"o": o, **({} if state is None else {"state": state})}
    if args.grad:
        outputs.update(gradients(x, arrays, o, state))
    outputs = {name: np.ascontiguousarray(tensor.detach().float().cpu().numpy()) for name, tensor in outputs.items()}
    if x.zero_gate and not all(np.isfinite(array).all() for array in outputs.values()):
        raise NotImplementedError("a gate of 0: NaN comes of its logarithm, minus infinity")
    return outputs


def gradients(x, arrays, o, state):
    if "do" not in arrays:
        raise SystemExit("fla_kernels.py: --grad needs `do` in each case: recollect sample --grad")
    ends, weights = [o], [torch.tensor(arrays["do"]).to(o)]
    if state is not None and "dstate" in arrays:
        ends.append(state)
        weights.append(torch.tensor(arrays["dstate"]).to(state))
    found = torch.autograd.grad(ends, list(x.leaves.values()), weights, allow_unused=True)
    missing = [name for name, gradient in zip(x.leaves, found) if gradient is None]
    if missing:
        raise NotImplementedError("no gradient of " + ", ".join(missing))
    return {"d" + name: gradient for name, gradient in zip(x.leaves, found)}


def commonest_shape_first(cases):
    """Orders cases by how common their shape is: fla compiles its kernels for each H, Dk and Dv, and the time may be limited.
    """
    shapes = {}
    for path in cases:
        with np.load(path) as arrays:
            shapes[path] = arrays["k"].shape[1], arrays["k"].shape[3], arrays["v"].shape[3]
    number = list(shapes.values()).count
    return sorted(cases, key=lambda path: (-number(shapes[path]), shapes[path]))


def wrong(what, name, known):
    sys.exit(f"fla_kernels.py: no {what} '{name}': one of {', '.join(known)}")


def parsed():
    parser = argparse.ArgumentParser(usage=__doc__, add_help=False)
    for name in ("layer", "form", "dtype", "indir", "outdir"):
        parser.add_argument(name)
    parser.add_argument("--grad", action="store_true")
    parser.add_argument("--log-gates", action="store_true")
    parser.add_argument("--tune", action="store_true")
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--seconds", type=float, default=float("inf"))
    args = parser.parse_args()
    if args.layer not in KERNELS:
        wrong("layer", args.layer, KERNELS)
    if args.form not in KERNELS[args.layer]:
        wrong(f"form of {args.layer}", args.form, KERNELS[args.layer])
    if args.dtype not in DTYPES:
        wrong("type", args.dtype, DTYPES)
    args.settings = dict(SETTINGS)
    for setting in args.set:
        name, _, value = setting.partition("=")
        if name not in SETTINGS:
            wrong("parameter", name, SETTINGS)
        args.settings[name] = float(value)
    return args


def main():
    if len(sys.argv) == 1:
        for layer, forms in KERNELS.items():
            print(f"{layer}: {', '.join(forms)}")
        return
    args, start = parsed(), time.monotonic()
    if DEVICE == "cpu" and args.form != "naive":
        sys.exit("fla_kernels.py: no GPU: without one only FORM naive runs")
    os.environ["TRITON_F32_DEFAULT"] = "tf32" if args.dtype == "tf32" else "ieee"
    torch.backends.cuda.matmul.allow_tf32 = args.dtype == "tf32"
    if not args.tune and DEVICE == "cuda":
        take_first_configuration()
    layer, load = KERNELS[args.layer][args.form]
    kernel = load()
    os.makedirs(args.outdir, exist_ok=True)
    listed = os.path.join(args.outdir, "refused.json")
    refused = json.load(open(listed)) if os.path.exists(listed) else {}

    def refuse(name, reason):
        refused[name] = " ".join(reason.split())[:300]
        with open(listed, "w") as file:
            json.dump(refused, file, indent=1)

    cases = commonest_shape_first(sorted(glob.glob(os.path.join(args.indir, "*.npz"))))
    if not cases:
        sys.exit(f"fla_kernels.py: {args.indir} holds no .npz: recollect sample {args.layer} --battery {args.indir}")
    for path in cases:
        name = os.path.basename(path)
        output = os.path.join(args.outdir, name)
        if name in refused or os.path.exists(output):
            continue
        if time.monotonic() - start > args.seconds:
            refuse(name, "no time")
            continue
        try:
            np.savez(output, **computed(layer, kernel, dict(np.load(path)), args))
        except Exception as error:  # any kind: Triton, PyTorch and fla raise different exceptions for unsupported cases
            refuse(name, f"{type(error).__name__}: {error}")
            if "CUDA error" in str(error):  # this process cannot run kernels any more
                os.execv(sys.executable, [sys.executable, *sys.argv])
    print(f"{args.layer} {args.form} {args.dtype}: {len(cases) - len(refused)} cases run, {len(refused)} refused")


if __name__ == "__main__":
    main()
