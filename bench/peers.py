#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The peers of `recollect bench --peers`. This process reads questions, lines of JSON, on standard input, and answers each of
them with one line.

    {"ask": "case", ...}                      answer {"peers": [{"source", "storage"}]}: the peers that know the case
    {"ask": "ready", "peer": i, "limit": s}   loads the case's tensors (FOLDER/q.bin ...), converts them, and runs the first
                                              call, which compiles and tunes; answer {"status", "reason"}
    {"ask": "take", "peer": i, "count": n}    answer {"status", "reason", "samples": [[seconds, clock]]}: n samples
    {"ask": "finish", "peer": i}              answer {"status", "reason", "method", "error"}. The peer computes its output once
                                              more; `error` is the relative error against FOLDER/expected.bin, or null if
                                              the two are not compared

The program decides which peer runs when and how often; this process runs nothing else. The time of a sample does not include
conversions of tensors (library_peers.py, torch_peers.py). In a backward pass, autograd computes the gradients of all tensors
from random gradients of the outputs; the forward pass is finished before and is not timed.

Peers store tensors in the type of the case. Only if a case has float32 arrays and bfloat16 products, the peers' tensors are
bfloat16. fla's kernels multiply float32 in TF32, and Triton tunes them completely at their first call. A peer whose first call
takes longer than the limit is skipped; what Triton has compiled by then is in its cache for the next try. fla's cache of
fastest configurations is off."""
import json
import os
import signal
import sys
import time

import numpy as np
import torch

os.environ["FLA_CACHE_RESULTS"] = "0"  # else fla uses what another process found fastest, perhaps on a busy GPU
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import library_peers  # noqa: E402
import stopwatches  # noqa: E402
import torch_peers  # noqa: E402

OVER_SHARED_MEMORY = "out of resource"  # Triton's message if no configuration of a kernel fits the GPU
# Exceptions of a peer that does not support a type or shape, or that lacks memory.
REFUSALS = (AssertionError, NotImplementedError, ValueError, *([torch.cuda.OutOfMemoryError] if hasattr(torch.cuda, "OutOfMemoryError") else []))
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


class OutOfTime(BaseException):
    """The time of limited() is over. Not a subclass of Exception, because tuners catch every Exception and take it for a
    configuration that does not work."""


class limited:
    """A context that raises OutOfTime after `seconds`. Python raises it between two of its own steps, so a kernel or a call of
    the compiler is finished first."""

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


def load(case):
    """{name: array [B,H,T,...]}: the tensors that the program wrote. q and k may have fewer heads than the other tensors."""
    B, H, T, Dk, Dv = case["shape"]
    dtype = np.float64 if case["real"] == "f64" else np.float32  # float32 holds 16-bit numbers exactly
    key_heads = case["qk_heads"]
    shapes = {"q": (B, key_heads, T, Dk), "k": (B, key_heads, T, Dk), "v": (B, H, T, Dv), "beta": (B, H, T), "alpha": (B, H, T),
              "lambda": (B, H, T, Dk), "w": (B, H, T, Dk)}
    return {name: np.fromfile(os.path.join(case["folder"], name + ".bin"), dtype).reshape(shapes[name])
            for name in case["given"]}


def said(error):
    return " ".join(str(error).split())[:200] or type(error).__name__


SIXTEEN_BITS = {"bf16": torch.bfloat16, "f16": torch.float16}


def stored_in(storage, x):
    """Converts q, k, v and w to the 16-bit type, as models store them. Gates keep their type."""
    return {name: t.to(SIXTEEN_BITS[storage]) if name in ("q", "k", "v", "w") else t for name, t in x.items()}


def autocast(storage, peer):
    """The peer with products in the type `storage`, except those for which PyTorch requires float32."""
    def cast(x):
        with torch.autocast(DEVICE, SIXTEEN_BITS[storage], cache_enabled=False):
            return peer(x)

    return cast


def backward_of(peer, x, d_o=None):
    """Runs peer(x), and returns a function that computes the gradients of the tensors in x from d_o, the gradient of peer(x).
    d_o is random if it is not given."""
    x = {name: tensor.detach().requires_grad_() for name, tensor in x.items()}
    with torch.enable_grad():
        o = peer(x)
    d_o = library_peers.random_like(o) if d_o is None else d_o
    used = lambda: torch.autograd.grad(o, list(x.values()), d_o, retain_graph=True, allow_unused=True)
    return lambda: dict(zip(x, used()))


def tune_for(milliseconds):
    """Makes Triton time every configuration for so many milliseconds instead of 100; Triton still tries all configurations."""
    from triton import testing
    from triton.runtime.autotuner import Autotuner

    def bench(self):
        return lambda call, quantiles: testing.do_bench(call, warmup=max(1, milliseconds / 4), rep=milliseconds, quantiles=quantiles)

    Autotuner.do_bench = property(bench, lambda self, value: None)


class TorchPeer:
    """A peer that calls a function of torch_peers.py on a dictionary of tensors."""

    def __init__(self, source, function, storage):
        self.source, self.function, self.storage, self.note = source, function, storage, ""

    def prepare(self, case):
        x = {name: torch.from_numpy(array).to(DEVICE) for name, array in load(case).items()}
        if "alpha" in x and case["form"] != "recurrent":
            x["log_alpha"] = x.pop("alpha").log()
        narrow = self.storage in SIXTEEN_BITS
        self.x, peer = (stored_in(self.storage, x) if narrow else x), self.function
        if narrow:
            peer = autocast(self.storage, peer)
        self.output = lambda: peer(self.x)
        self.make = lambda: backward_of(peer, self.x) if case["backward"] else self.output
        self.bytes_moved = sum(t.numel() * t.element_size() for t in self.x.values())
        return self.make()


class LibraryPeer:
    """A peer that calls a kernel of library_peers.py."""

    def __init__(self, source, layer, kernel, storage, note):
        self.source, self.layer, self.kernel, self.storage, self.note = source, layer, kernel, storage, note

    def prepare(self, case):
        B, H, T, Dk, Dv = case["shape"]
        if self.source == "fla" and case["backward"] and case["variant"] in library_peers.GATED_BACKWARD:
            library_peers.refuse_wrong_gradients()
        arrays = load(case)
        if case["variant"] in library_peers.WITH_STATE:
            arrays["state"] = np.zeros((max(B, len(case["starts"]) - 1), H, Dv, Dk), np.float32)
        if case["variant"] not in library_peers.GROUPED:
            arrays.update({name: arrays[name].repeat(H // case["qk_heads"], 1) for name in "qk"})
        convert = lambda: library_peers.fla_layers.Inputs(arrays, SIXTEEN_BITS.get(self.storage, torch.float32),
                                                          dict(library_peers.fla_layers.SETTINGS), starts=case["starts"])
        call = library_peers.captured(self.layer, self.kernel, convert())
        copies = iter([call])
        self.make = lambda: (lambda own: own.backward() if case["backward"] else own)(next(copies, None) or call.copy())
        self.output = lambda: library_peers.captured(self.layer, self.kernel, convert()).o.transpose(1, 2)
        self.bytes_moved = call.bytes_moved()
        return self.make()


def parameters_of(case):
    """The parameters with which a PyTorch peer computes the case; None if it does not support one of their values."""
    known, taken = torch_peers.PARAMETERS.get(case["variant"], {}), {}
    for name, value in case["parameters"].items():
        if name not in known or known[name] is not float and value not in known[name]:
            return None
        taken[name] = value
    return taken


def peers_of(case):
    """The peers that can compute the case. Peers that need no tuning come first."""
    variant, form, real = case["variant"], case["form"], case["real"]
    storage = "bf16" if real == "f32" and case["math"] == "bf16" else real
    if case["starts"] or case["qk_heads"] < case["shape"][1]:
        return packed_peers_of(case, storage)
    found, parameters = [], parameters_of(case)
    function = torch_peers.TORCH.get((variant, form))
    by_channel = variant == "gated_linear" and "lambda" in case["given"]  # PyTorch's form has one gate per step
    on_this_device = form == "recurrent" or DEVICE == "cpu"  # chunked forms in plain PyTorch are too slow on a GPU
    autocasts = storage != "f16" or DEVICE == "cuda"  # a CPU only autocasts to bfloat16
    if function and parameters is not None and not by_channel and on_this_device and autocasts:
        if form != "recurrent" or storage not in SIXTEEN_BITS:  # a loop takes the same time in any type
            found.append(TorchPeer("torch", lambda x: function(x, case["chunk"], **parameters), storage))
    if variant == "softmax" and DEVICE == "cpu" and not case["parameters"] and hasattr(torch.nn.functional, "scaled_dot_product_attention"):
        found.append(TorchPeer("torch", lambda x: torch.nn.functional.scaled_dot_product_attention(x["q"], x["k"], x["v"], is_causal=True), storage))
    if DEVICE == "cuda" and not case["parameters"] and real != "f64" and (form != "recurrent" or case["shape"][2] == 1):
        for source, layer, kernel in library_peers.adapters(variant, case["shape"][2]):
            found.append(LibraryPeer(source, layer, kernel, storage, library_peers.NOTES.get((source, variant), "")))
    return found


def packed_peers_of(case, storage):
    """The peers for packed texts, and for heads of v that share a head of q and k."""
    variant, T = case["variant"], case["shape"][2]
    if variant not in library_peers.PACKED or DEVICE == "cpu" or case["form"] == "recurrent" or case["parameters"] or case["real"] == "f64":
        return []
    repeats = case["qk_heads"] < case["shape"][1] and variant not in library_peers.GROUPED
    notes = [library_peers.NOTES.get(("fla", variant), ""), "fla gets q and k repeated for every head" if repeats else ""]
    return [LibraryPeer(source, layer, kernel, storage, "; ".join(filter(None, notes)))
            for source, layer, kernel in library_peers.adapters(variant, T) if source == "fla"]


class Session:
    """Works on one case at a time."""

    def __init__(self):
        self.case, self.expected, self.peers, self.watches = None, None, [], {}

    def answer(self, question):
        try:
            return getattr(self, "ask_" + question["ask"])(question)
        except OutOfTime:
            return dict(status="skipped", reason=f"its first call took longer than {question['limit']:g} s: its tuning was cut")
        except REFUSALS as refusal:  # the process can continue
            return dict(status="skipped", reason=said(refusal))
        except Exception as failure:
            return dict(status="skipped" if OVER_SHARED_MEMORY in str(failure) else "failed", reason=said(failure))

    def ask_case(self, question):
        self.case, self.watches = question, {}
        self.peers = peers_of(question)
        if DEVICE == "cuda":
            torch.cuda.empty_cache()
            if question.get("tuning"):
                tune_for(question["tuning"])
        return dict(peers=[dict(source=peer.source, storage=peer.storage) for peer in self.peers])

    def ask_ready(self, question):
        peer, start = self.peers[question["peer"]], time.perf_counter()
        if self.case["expected_steps"]:  # read now, because the folder may be gone when a peer finishes
            self.expected = np.fromfile(os.path.join(self.case["folder"], "expected.bin"))
        with torch.no_grad():
            with limited(question["limit"]):
                work = peer.prepare(self.case)
                work()
                if DEVICE == "cuda":
                    torch.cuda.synchronize()
            tuned = time.perf_counter() - start
            works = iter([work])
            watch = stopwatches.DeviceStopwatch if DEVICE == "cuda" else stopwatches.HostStopwatch
            self.watches[question["peer"]] = watch(lambda: next(works, None) or peer.make(), peer.bytes_moved,
                                                   self.case.get("clock", 0))
        notes = [peer.note] if peer.note else []
        if DEVICE == "cuda" and peer.source == "fla":
            each = f", {self.case['tuning']:g} ms per configuration" if self.case.get("tuning") else ""
            notes.append(f"tuned in {tuned:.0f} s{each}")
        return dict(status="ok", reason="; ".join(notes))

    def ask_take(self, question):
        watch = self.watches[question["peer"]]
        with torch.no_grad():
            return dict(status="ok", reason="", samples=[watch.sample() for _ in range(question["count"])])

    def ask_finish(self, question):
        peer, watch = self.peers[question["peer"]], self.watches.pop(question["peer"])
        answer = dict(status="ok", reason="", method=watch.method, error=None)
        steps, different = self.case["expected_steps"], (peer.source, self.case["variant"]) in library_peers.NOT_COMPARED
        if steps and not self.case["backward"] and not different:
            with torch.no_grad():
                o = peer.output()[-1, 0, :steps].double().cpu().numpy()
            expected = self.expected.reshape(steps, -1)
            answer["error"] = float(np.linalg.norm(o - expected) / np.linalg.norm(expected))
        return answer


def main():
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # compilers may print to standard output, which is for answers
    if DEVICE == "cuda":
        stopwatches.in_own_stream()
    session = Session()
    for line in sys.stdin:
        print(json.dumps(session.answer(json.loads(line))), file=answers, flush=True)


if __name__ == "__main__":
    main()
