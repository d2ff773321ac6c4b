# SPDX-License-Identifier: Apache-2.0
"""Compares the naive PyTorch references of flash-linear-attention with the definitions:

    fla_references.py RECOLLECT CHECKOUT      # of fla-org/flash-linear-attention; prints a verdict a reference

The references scale queries by 1/sqrt(Dk) and keep their state as [Dk,Dv]; the definitions do neither. Therefore queries are
multiplied by sqrt(Dk), and states are transposed. Exit 1 if a reference differs from its definition."""
import importlib.util
import os
import subprocess
import sys
import tempfile
import types

import numpy as np
import torch

PROGRAM, CHECKOUT = sys.argv[1:]


def rearrange(x, pattern, c=None):
    """Replaces einops, if it is not installed, for the patterns of the references: splitting off chunks and joining
    them."""
    return x.unflatten(2, (-1, c)) if "(n c)" in pattern.split("->")[0] else x.flatten(2, 3)


if not importlib.util.find_spec("einops"):
    sys.modules["einops"] = types.ModuleType("einops")
    sys.modules["einops"].rearrange = rearrange


def naive(path):
    spec = importlib.util.spec_from_file_location("naive", os.path.join(CHECKOUT, "fla", "ops", path, "naive.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


delta, gated, gla = naive("delta_rule"), naive("gated_delta_rule"), naive("gla")
dplr, gdn2, comba = naive("generalized_delta_rule/dplr"), naive("gdn2"), naive("comba")
product, precond = naive("gated_delta_product"), naive("precond_gated_delta_rule")


def rwkv7(f):
    def call(x):
        unit = x["w"] / x["w"].norm(dim=-1, keepdim=True)
        return f(x["q"], x["k"], x["v"], unit, -x["beta"][..., None] * unit, x["lambda"])

    return call


def two_strengths(f):
    """b = beta w / k per channel, if no channel of a key is 0, and one write strength for all channels."""
    def call(x):
        erase = x["beta"][..., None] * x["w"] / x["k"]
        return f(x["q"], x["k"], x["v"], x["lambda"], erase, x["beta"][..., None].expand_as(x["v"]), output_final_state=True)

    return call


def householder(x):
    """Two steps per token, at w and at k; the reference applies no scale."""
    keys = torch.stack([x["w"], x["k"]], 2).flatten(1, 2)
    twice = lambda a: a.repeat_interleave(2, 1)  # noqa: E731
    return product.naive_recurrent_gated_delta_product(x["q"] / x["q"].shape[-1] ** 0.5, keys, twice(x["v"]), x["alpha"],
                                                       twice(x["beta"]), 1, None, None, True, 2)


def preconditioned(x):
    """The reference normalises q and k, and the sample's keys have length 1; A has no decay."""
    o, S, A = precond.naive_recurrent_precond_gated_delta_rule(
        x["q"], x["k"], x["v"], torch.zeros_like(x["beta"]), x["alpha"], torch.ones_like(x["beta"]), x["beta"],
        output_final_state=True)
    length = x["q"].norm(dim=-1, keepdim=True)
    return o * length, torch.cat([S, A[..., None]], -1)


BHTD, BTHD = ["--gate", "log"], ["--gate", "log", "--layout", "bthd"]
CASES = [
    ("delta_rule_recurrence", "delta_net", BHTD, lambda x: delta.delta_rule_recurrence(x["q"], x["k"], x["v"], x["beta"])),
    ("delta_rule_chunkwise", "delta_net", BHTD, lambda x: delta.delta_rule_chunkwise(x["q"], x["k"], x["v"], x["beta"])),
    ("delta_rule_parallel", "delta_net", BHTD,
     lambda x: (delta.delta_rule_parallel(x["q"], x["k"], x["v"], x["beta"])[0], None)),
    ("naive_recurrent_gated_delta_rule", "gated_delta_net", BTHD,
     lambda x: gated.naive_recurrent_gated_delta_rule(x["q"], x["k"], x["v"], x["beta"], x["alpha"], output_final_state=True)),
    ("naive_chunk_gated_delta_rule", "gated_delta_net", BTHD,
     lambda x: gated.naive_chunk_gated_delta_rule(x["q"], x["k"], x["v"], x["alpha"], x["beta"], output_final_state=True)),
    ("naive_recurrent_gla", "gla", BTHD,
     lambda x: gla.naive_recurrent_gla(x["q"], x["k"], x["v"], x["lambda"] + x["alpha"][..., None], output_final_state=True)),
    ("naive_recurrent_gdn2", "gated_delta_net2", BTHD, two_strengths(gdn2.naive_recurrent_gdn2)),
    ("naive_chunk_gdn2", "gated_delta_net2", BTHD, two_strengths(gdn2.naive_chunk_gdn2)),
    ("naive_recurrent_comba", "comba", BTHD,
     lambda x: comba.naive_recurrent_comba(x["q"], x["k"], x["v"], x["w"], x["beta"], x["alpha"], output_final_state=True)),
    ("naive_recurrent_gated_delta_product", "gated_delta_product", BTHD, householder),
    ("naive_recurrent_precond_gated_delta_rule", "preconditioned_delta", BTHD, preconditioned),
    ("dplr_recurrence", "rwkv7", BHTD, rwkv7(dplr.dplr_recurrence)),
    ("dplr_chunkwise", "rwkv7", BHTD, rwkv7(dplr.dplr_chunkwise)),
]  # fmt: skip


def check(variant, flags, reference, folder, kind):
    given, computed = os.path.join(folder, "in.npz"), os.path.join(folder, "out.npz")
    sample = [PROGRAM, "sample", variant, "--shape", "2,3,128,32,16", "--kind", kind, "--no-state", "--dtype", "f32",
              "-o", given, *flags]
    subprocess.run(sample, check=True, capture_output=True)
    x = {name: torch.tensor(array) for name, array in np.load(given).items()}
    if variant == "preconditioned_delta":
        del x["lambda"]
        np.savez(given, **x)
    x["q"] = x["q"] * x["q"].shape[-1] ** 0.5
    o, state = reference(x)
    np.savez(computed, o=o, **({} if state is None else {"state": state.transpose(-1, -2)}))
    done = subprocess.run([PROGRAM, "check", variant, "-i", given, "-c", computed, *flags], capture_output=True, text=True)
    return done.returncode, "; ".join((done.stdout + done.stderr).split("\n")[:3])


def main():
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, variant, flags, reference in CASES:
            for kind in "random", "repeated-keys", "tiny-gates":
                status, said = check(variant, flags, reference, folder, kind)
                failed += status != 0
                print(f"{name}, {kind}: {said}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
