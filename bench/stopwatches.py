# SPDX-License-Identifier: Apache-2.0
"""Times Python functions as the program times its kernels (harness/device/stopwatch.hpp), with cold caches. On a GPU, events
measure the time in a stream that is blocked until all work is queued; short work is a CUDA graph of many passes."""
import math
import os
import time

import torch

SHORT = 3e-4  # seconds: shorter work is recorded as a graph of enough passes to take this long
MOST_SETS, MOST_PASSES = 16, 256
FIRST_HOLD, LONGEST_HOLD = 1e5, 1e8  # cycles


def in_own_stream():
    """Makes this thread work in a stream other than the default stream, because the default stream cannot be recorded as a
    graph. The forward pass must run in it too, because autograd runs a backward pass in the stream of its forward pass."""
    torch.cuda.set_stream(torch.cuda.Stream())


class HostStopwatch:
    """Times a pass on the CPU, from call to return."""

    method = "host clock, caches flushed"

    def __init__(self, make, bytes_moved, default_clock=0):
        caches = os.sysconf("SC_LEVEL3_CACHE_SIZE") if "SC_LEVEL3_CACHE_SIZE" in os.sysconf_names else 0
        self.large = torch.empty(max(64 << 20, 2 * caches), dtype=torch.uint8)
        self.work = make()
        last = self.sample()[0]
        for _ in range(10):
            now = self.sample()[0]
            if last > 1 or abs(now - last) < 0.05 * last:
                break
            last = now

    def sample(self):
        """(seconds, clock divided by the default clock)"""
        self.large.zero_()  # evicts everything else
        start = time.perf_counter()
        self.work()
        return time.perf_counter() - start, 1.0


class DeviceStopwatch:
    """Times a pass on a GPU. Each call of make() returns the pass with separate tensors; bytes_moved is the number of bytes
    that a pass reads and writes. Graphs are recorded in the current stream, which must not be the default stream
    (in_own_stream())."""

    def __init__(self, make, bytes_moved, default_clock=0):
        self.large = torch.empty(512 << 20, dtype=torch.uint8, device="cuda")
        self.default_clock, self.hold, self.host_counts = default_clock, FIRST_HOLD, False
        self.reads_clocks = bool(default_clock)
        self.compile_clocks()
        self.sets, self.passes, self.graph = [make()], 1, None
        for _ in range(3):
            self.sets[0]()
        once = self.sample()[0]
        if once >= SHORT:
            return
        cached = 3 * getattr(torch.cuda.get_device_properties(0), "L2_cache_size", 50 << 20)
        while len(self.sets) < MOST_SETS and len(self.sets) * bytes_moved < cached:
            self.sets.append(make())
            self.sets[-1]()
        wanted = min(MOST_PASSES, math.ceil(SHORT / max(once, 1e-6)))
        self.passes = math.ceil(wanted / len(self.sets)) * len(self.sets)
        self.graph = self.recorded()
        self.sample()

    def queue(self):
        for i in range(self.passes):
            self.sets[i % len(self.sets)]()

    def recorded(self):
        """A CUDA graph of all passes; None if one cannot be recorded."""
        try:
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph, stream=torch.cuda.current_stream()):
                self.queue()
            return graph
        except Exception:
            torch.cuda.synchronize()
            return None

    def sample(self):
        """(seconds per pass, clock divided by the default clock)"""
        while True:
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            self.large.zero_()
            torch.cuda._sleep(int(self.hold))
            before = self.clocks()
            start.record()
            if self.graph:
                self.graph.replay()
            else:
                self.queue()
            end.record()
            late = start.query()
            after = self.clocks()
            torch.cuda.synchronize()
            if late and not self.host_counts:  # the stream ran dry before everything was queued
                if self.hold < LONGEST_HOLD:
                    self.hold *= 4
                    continue
                self.host_counts, self.hold = True, FIRST_HOLD
            return start.elapsed_time(end) / 1e3 / self.passes, self.ratio(before, after)

    def compile_clocks(self):
        """Compiles the kernel that reads clocks. If Triton is missing or cannot compile it, clocks are not read."""
        try:
            self.clocks()
            torch.cuda.synchronize()
        except Exception:
            self.reads_clocks = False

    def clocks(self):
        """Time and cycle count of every multiprocessor (clock_kernel.py); None if clocks are not read."""
        if not self.reads_clocks:
            return None
        from clock_kernel import read_clocks

        count = torch.cuda.get_device_properties(0).multi_processor_count
        out = torch.zeros(2 * max(count, 256), dtype=torch.int64, device="cuda")
        read_clocks[(count,)](out, num_warps=1)
        return out

    def ratio(self, before, after):
        if before is None or after is None:
            return 1.0
        (t0, c0), (t1, c1) = (x.view(-1, 2).double().unbind(1) for x in (before, after))
        read = (t0 > 0) & (t1 > t0)
        if not read.any():
            return 1.0
        return float(((c1 - c0)[read] / (t1 - t0)[read] * 1e9).median()) / self.default_clock

    @property
    def method(self):
        text = f"graph of {self.passes} passes" if self.graph else "events"
        if not self.graph and self.passes > 1:
            text += f" around {self.passes} passes"
        text += f", {len(self.sets)} buffer sets" if len(self.sets) > 1 else ", caches flushed"
        return text + (", the host's launches count" if self.host_counts else "")
