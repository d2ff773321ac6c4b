#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Finds fast forms that are slower than their definitions.

    fast_forms.py SEED [--count N] [--variants GLOB,...] [--shape B,H,T,Dk,Dv ...] [--program build/recollect]

Draws N shapes (default 20) with log-uniform sizes: T from 64 to 4096 and widths from 8 to 128. For each shape, times the fast
form of every variant and its recurrent form (`recollect bench`). A form counts as slower if the whole bootstrap interval of
its median lies above that of the recurrent form. If the definition itself is the fast form, there is no case. Prints each
slower case with its ratio; the last line counts cases. Exit 0 if none was slower and none failed."""
import argparse
import json
import os
import random
import subprocess
import sys
import tempfile


def draw_shapes(seed, count):
    draw = random.Random(seed)
    between = lambda low, high: round(low * (high / low) ** draw.random())
    return [(draw.randint(1, 2), draw.randint(1, 8), between(64, 4096), between(8, 128), between(8, 128))
            for _ in range(count)]


def interval(samples):
    """(low, median, high): the order statistics that enclose the true median with 95% confidence."""
    samples = sorted(samples)
    n = len(samples)
    reach = round(0.98 * n**0.5)
    return samples[max(0, n // 2 - reach)], samples[n // 2], samples[min(n - 1, n // 2 + reach)]


def timings(program, variants, shape):
    """({(variant, form): interval in seconds}, the cases that could not be timed)"""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "bench.json")
        command = [program, "bench", "--variants", variants, "--forms", "recurrent,fast", "--min-time", "0.02",
                   "--shape", ",".join(map(str, shape)), "--json", path]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        with open(path) as f:
            entries = json.load(f)["benchmarks"]
    samples, failed = {}, []
    for entry in entries:
        variant, form = entry["run_name" if "run_name" in entry else "name"].split("/")[:2]
        if entry.get("error_occurred"):
            failed.append((variant, form, entry.get("error_message", "")))
        elif entry["run_type"] == "iteration":
            samples.setdefault((variant, form), []).append(entry["real_time"])
    return {case: interval(times) for case, times in samples.items()}, failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("seed", type=int)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--variants", default="all")
    parser.add_argument("--shape", action="append")
    parser.add_argument("--program", default="build/recollect")
    options = parser.parse_args()
    shapes = [tuple(map(int, s.split(","))) for s in options.shape or []] or draw_shapes(options.seed, options.count)
    cases = slower = broken = 0
    for shape in shapes:
        found, failed = timings(options.program, options.variants, shape)
        for variant, form, reason in failed:
            broken += "skipped" not in reason
            print(f"{variant}/{form} at {shape}: {reason}")
        for (variant, form), (low, median, high) in found.items():
            definition = found.get((variant, "recurrent"))
            if form == "recurrent" or not definition:
                continue
            cases += 1
            if low > definition[2]:
                slower += 1
                print(f"{variant}/{form} at {shape}: {definition[1] / median:.2f}x the speed of its definition", flush=True)
    print(f"{cases} cases, {slower} slower than their definition, {broken} failed")
    return 1 if slower or broken else 0


if __name__ == "__main__":
    sys.exit(main())
