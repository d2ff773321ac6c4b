# SPDX-License-Identifier: Apache-2.0
"""Draws three ratios of a result file by a seed and measures them again with triton.testing.do_bench alone:

    do_bench.py bench/results/DEVICE.csv [--seed 1] [--recollect build/recollect]

A ratio is our time over a peer's. The peer's kernel is called as its documentation says, on random tensors in its own layout,
without any code of this project. Our time comes from a new `recollect bench` of the same case if --recollect names the program
(Python cannot call its kernels), else from the file. Exit 0: all three are within 5% of the file; 1: one is not.

do_bench differs in two points: it clears 256 MB between calls, and it does not hold the stream. A call of less than about 0.1
ms, for which Python takes as long to launch it, therefore measures longer. For such calls --graph uses do_bench_cudagraph, with
warm caches."""
import argparse
import csv
import json
import random
import subprocess
import sys
import tempfile

ALLOWED = 0.05


def read(path):
    """The rows of a result file."""
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def pairs(rows):
    """[(ours, theirs)] of all cases with a peer that CALLS can call, without packed texts and grouped heads. If ours has float32 arrays with bf16 products, the peer's
    arrays are stored in bf16."""
    def case(row):
        stored = "bf16" if row["math"] == "bf16" else row["storage"]
        return (stored, *(row[n] for n in ("variant", "pass", "B", "H", "T", "Dk", "Dv", "math", "without")))

    packed = lambda row: row.get("texts") or row.get("qk_heads")  # noqa: E731
    ours = {case(r): r for r in rows if r["source"] == "recollect" and r["status"] == "ok" and not packed(r)}
    return [(ours[case(r)], r) for r in rows
            if (r["variant"], r["source"]) in CALLS and r["status"] == "ok" and not packed(r) and case(r) in ours and int(r["T"]) > 1]


def drawn(rows, seed, count=3):
    """Cases in the order of the file; the same seed draws the same cases."""
    known = pairs(rows)
    return random.Random(seed).sample(known, min(count, len(known)))


def ratio(ours, theirs):
    return float(ours) / float(theirs)


def within(found, filed):
    return abs(found / filed - 1) <= ALLOWED


# ---- The peers, as their users call them: tensors(case, dtype) -> a function without arguments -----------------------------

def fla_inputs(theirs):
    import torch
    import torch.nn.functional as F

    B, H, T, Dk, Dv = (int(theirs[n]) for n in ("B", "H", "T", "Dk", "Dv"))
    dtype = torch.bfloat16 if theirs["storage"] == "bf16" else torch.float32
    rand = lambda *shape: torch.randn(*shape, device="cuda")  # noqa: E731
    unit = lambda x: F.normalize(x, dim=-1).to(dtype)  # noqa: E731
    x = dict(q=unit(rand(B, T, H, Dk)), k=unit(rand(B, T, H, Dk)), v=rand(B, T, H, Dv).to(dtype),
             beta=(0.2 + 0.8 * torch.rand(B, T, H, device="cuda")).to(dtype),
             g=(0.8 + 0.2 * torch.rand(B, T, H, device="cuda")).log(),
             gk=((0.8 + 0.2 * torch.rand(B, T, H, Dk, device="cuda")) * (0.8 + 0.2 * torch.rand(B, T, H, 1, device="cuda"))).log())
    x["state"] = torch.zeros(B, H, Dk, Dv, device="cuda")
    return x


def fla(names, call):
    """A call of fla on the named tensors, forward or backward."""
    def make(theirs):
        import torch

        x = {name: tensor for name, tensor in fla_inputs(theirs).items() if name in (*names, "state")}
        forward = lambda: call(x, dict(scale=1.0, initial_state=x["state"], output_final_state=True))  # noqa: E731
        if theirs["pass"] == "forward":
            return torch.no_grad()(forward)
        leaves = [tensor.requires_grad_() for tensor in x.values()]
        ends = [end for end in forward() if end is not None]
        weights = [torch.randn_like(end) for end in ends]
        return lambda: torch.autograd.grad(ends, leaves, weights, retain_graph=True, allow_unused=True)

    return make


def ops():
    from fla import ops as found

    return found


def attention(backend):
    def make(theirs):
        import torch
        from torch.nn.attention import SDPBackend, sdpa_kernel

        x = fla_inputs(theirs)
        q, k, v = (x[name].transpose(1, 2).contiguous().requires_grad_(theirs["pass"] == "backward") for name in "qkv")

        def forward():
            with sdpa_kernel(getattr(SDPBackend, backend)):
                return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)

        if theirs["pass"] == "forward":
            return forward
        o = forward()
        weights = torch.randn_like(o)
        return lambda: torch.autograd.grad(o, [q, k, v], weights, retain_graph=True)

    return make


CALLS = {
    ("linear", "fla"): fla("qkv", lambda x, o: ops().chunk_linear_attn(x["q"], x["k"], x["v"], normalize=False, **o)),
    ("delta_net", "fla"): fla(("q", "k", "v", "beta"), lambda x, o: ops().chunk_delta_rule(x["q"], x["k"], x["v"], x["beta"], **o)),
    ("gated_delta_net", "fla"): fla(("q", "k", "v", "beta", "g"), lambda x, o: ops().chunk_gated_delta_rule(
        x["q"], x["k"], x["v"], g=x["g"], beta=x["beta"], **o)),
    ("gated_linear", "fla"): fla(("q", "k", "v", "gk"), lambda x, o: ops().chunk_gla(x["q"], x["k"], x["v"], x["gk"], **o)),
    ("mamba2", "fla"): fla(("q", "k", "v", "g"), lambda x, o: ops().chunk_simple_gla(x["q"], x["k"], x["v"], g=x["g"], **o)),
    ("softmax", "torch-flash"): attention("FLASH_ATTENTION"),
    ("softmax", "torch-efficient"): attention("EFFICIENT_ATTENTION"),
    ("softmax", "torch-cudnn"): attention("CUDNN_ATTENTION"),
}


def our_seconds(program, ours):
    """The median from a fresh `recollect bench` of the case."""
    shape = ",".join(ours[n] for n in ("B", "H", "T", "Dk", "Dv"))
    command = [program, "bench", "--variants", ours["variant"], "--forms", ours["form"], "--shape", shape, "--math", ours["math"]]
    command += ["--dtype", ours["storage"]]
    command += ["--backward"] if ours["pass"] == "backward" else []
    command += ["--without", ours["without"]] if ours["without"] else []
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        subprocess.run([*command, "--json", out.name], check=True, stdout=subprocess.DEVNULL)
        with open(out.name, encoding="utf-8") as file:
            found = json.load(file)["benchmarks"]
    return next(b["real_time"] for b in found if b["run_type"] == "aggregate") / 1e9


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--recollect", help="the program, which times our side anew")
    parser.add_argument("--graph", action="store_true", help="time peers by do_bench_cudagraph")
    args = parser.parse_args()
    from triton import testing

    worst = 0
    for ours, theirs in drawn(read(args.results), args.seed):
        call = CALLS[theirs["variant"], theirs["source"]](theirs)
        if args.graph:
            seconds = testing.do_bench_cudagraph(call, return_mode="median") / 1e3
        else:
            seconds = testing.do_bench(call, warmup=100, rep=400, return_mode="median") / 1e3
        mine = our_seconds(args.recollect, ours) if args.recollect else float(ours["median_seconds"])
        filed, found = ratio(ours["median_seconds"], theirs["median_seconds"]), ratio(mine, seconds)
        worst = max(worst, abs(found / filed - 1))
        shape = ",".join(ours[n] for n in ("B", "H", "T", "Dk", "Dv"))
        print(f"{ours['variant']} {shape} {ours['pass']} {theirs['source']} in {theirs['storage']}: "
              f"ours {1e3 * mine:.4g} ms (file {1e3 * float(ours['median_seconds']):.4g}), theirs {1e3 * seconds:.4g} "
              f"(file {1e3 * float(theirs['median_seconds']):.4g}); ratio {found:.3f}, file {filed:.3f}, "
              f"{'within' if within(found, filed) else 'NOT within'} 5%", flush=True)
    sys.exit(worst > ALLOWED)


if __name__ == "__main__":
    main()
