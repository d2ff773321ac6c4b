# SPDX-License-Identifier: Apache-2.0
"""Files from strangers: possible outcomes, and ways to damage them.

    hostile.py RECOLLECT [--count N | --seconds N]      # so many damaged inputs of every command that reads files (default
                                                        # 500), or as many as fit into that time in all

Every run must end within a minute of processor time and with at most one GiB of memory, with exit 0, 1, 2 or 3. With 2 or 3 it
must print one line on standard error; unless it is 0 it must leave no output. The last line is "N passed, M failed"."""
import argparse
import collections
import functools
import math
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

HERE = pathlib.Path(__file__).resolve().parent
CORPUS = HERE.parent / "fuzz" / "corpus"
SECONDS, BYTES = 60, 1 << 30
PATIENCE = 1200  # seconds of wall time before a command counts as hanging

Outcome = collections.namedtuple("Outcome", "status out err seconds bytes")


# A child's peak memory starts at that of the process that forked it, so a small process is in between. Its arguments:
# where to write (status, peak in KiB, processor time in ms, including children), the maximum of seconds, and the
# command.
LAUNCHER = """import os, resource, sys
resource.setrlimit(resource.RLIMIT_CPU, (int(sys.argv[2]),) * 2)
status = os.waitpid(os.posix_spawnp(sys.argv[3], sys.argv[3:], os.environ), 0)[1]
used = resource.getrusage(resource.RUSAGE_CHILDREN)
os.write(int(sys.argv[1]), b"%d %d %d" % (status, used.ru_maxrss, (used.ru_utime + used.ru_stime) * 1000))
"""


def run(*words):
    """Runs a command in a separate process; returns its peak memory and time, including children."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, tempfile.TemporaryFile() as told:
        launcher = [sys.executable, "-I", "-S", "-c", LAUNCHER, str(told.fileno()), str(SECONDS)]
        process = subprocess.Popen([*launcher, *words], stdout=out, stderr=err, stdin=subprocess.DEVNULL,
                                   pass_fds=[told.fileno()], start_new_session=True)  # fmt: skip
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        out.seek(0), err.seek(0), told.seek(0)
        said, complained = (file.read().decode("utf-8", "backslashreplace") for file in (out, err))
        status, peak, milliseconds = map(int, told.read().split() or (-1, 0, 0))
        code = os.waitstatus_to_exitcode(status) if status >= 0 else None
        return Outcome(code, said, complained, milliseconds / 1000, peak * 1024)


def complaint(done, output=None):
    """What is wrong with an outcome, or ""."""
    if done.status is None:
        return f"still running after {PATIENCE} s"
    if done.status == -signal.SIGKILL:
        return f"took {done.seconds:.0f} s of the processor"
    if done.status not in (0, 1, 2, 3):
        return f"exit {done.status}: {done.err[-200:]}"
    if done.status >= 2 and (done.err.count("\n") != 1 or not done.err.startswith("recollect")):
        return f"exit {done.status} with {done.err.count(chr(10))} lines: {done.err[:300]}"
    if any(not c.isprintable() and c not in "\n\t\u00a0" for c in done.out + done.err):
        return f"what no terminal should be given: {done.out + done.err!r}"[:500]
    if done.bytes > BYTES:
        return f"took {done.bytes >> 20} MiB"
    if output and done.status != 0 and os.path.exists(output):
        return f"exit {done.status}, and an output"
    return ""


def damaged(data, draw):
    """`data` with a few bytes changed, cut, doubled or set to extreme values."""
    data = bytearray(data)
    for _ in range(draw.choice((1, 1, 1, 2, 4, 16))):
        at, kind = draw.randrange(len(data)), draw.randrange(8)
        if kind < 3:
            data[at] ^= 1 << draw.randrange(8)
        elif kind < 5:
            data[at] = draw.choice((0, 1, 0x7F, 0x80, 0xFF, draw.randrange(256)))
        elif kind == 5:
            width = draw.choice((2, 4, 8))
            data[at : at + width] = draw.choice((b"\xff", b"\x00", b"\x7f")) * len(data[at : at + width])
        elif kind == 6 and len(data) > 16:
            del data[at : at + draw.randrange(1, 16)]
        elif kind == 7:
            data[at:at] = data[at : at + draw.randrange(1, 16)]
    return bytes(data[: draw.randrange(len(data))] if draw.randrange(20) == 0 and len(data) > 1 else data)


def commands(folder):
    """name -> (files of the corpus to damage, the file's name, the command line, its output or None)"""
    at = lambda name: os.path.join(folder, name)  # noqa: E731
    tensors, results = sorted((CORPUS / "tensors").iterdir()), sorted((CORPUS / "results").iterdir())
    good = str(CORPUS / "tensors" / "delta_net.h5")
    whole = str(CORPUS / "results" / "run.h5")
    memory = ("--memory", "256M")
    yield "forward", tensors, "x", lambda x: ["forward", "delta_net", "-i", x, "-o", at("o.h5"), *memory], at("o.h5")
    yield "check", tensors, "x", lambda x: ["check", "delta_net", "-i", good, "-c", x], None
    yield "info", results, "x.h5", lambda x: ["info", x], None
    yield "diff", results, "x.h5", lambda x: ["diff", whole, x], None
    yield "merge", results, "x.h5", lambda x: ["merge", x, whole, "--partial", "-o", at("o.h5")], at("o.h5")
    yield "report", results, "x.h5", lambda x: ["report", x, "--quiet", "-o", at("page")], at("page")
    suites = sorted((CORPUS / "suites").iterdir())
    yield "verify", suites, "x.toml", lambda x: ["verify", "--suite", x, "--shard", "100000/100000"], None
    yield "run", results, "o.h5.partial", lambda x: ["run", "--variants", "linear", "--tasks", "recall", "-o", at("o.h5"), "--resume"], None  # noqa: E501


def given(program, name, file, suffix, data):
    """Runs the command on a file with these bytes: (what went wrong or "", outcome)."""
    with tempfile.TemporaryDirectory() as folder:
        _, _, _, words, output = next(c for c in commands(folder) if c[0] == name)
        path = os.path.join(folder, file + (suffix if file == "x" else ""))
        pathlib.Path(path).write_bytes(data)
        done = run(program, *words(path))
        return complaint(done, output), done


def attack(program, count, names=(), seed=1, seconds=math.inf):
    """Damaged inputs, `count` per command and at most `seconds` in all; 0: each file of the corpus unchanged. Yields
    (command, what went wrong or "", outcome)."""
    chosen = [(name, corpus, file) for name, corpus, file, _, _ in commands("") if not names or name in names]
    cores = len(os.sched_getaffinity(0))
    with ThreadPoolExecutor(cores) as pool:
        for at, (name, corpus, file) in enumerate(chosen):
            draw = random.Random(f"{seed} {name}")
            start, share, total = time.monotonic(), seconds / (len(chosen) - at), count or len(corpus)
            for first in range(0, total, 2 * cores):
                if time.monotonic() - start > share:
                    break
                sources = [corpus[i % len(corpus)] for i in range(first, min(first + 2 * cores, total))]
                contents = [damaged(source.read_bytes(), draw) if count else source.read_bytes() for source in sources]
                suffixes = [source.suffix for source in sources]
                ends = pool.map(functools.partial(given, program, name, file), suffixes, contents)
                for i, (source, (said, done)) in enumerate(zip(sources, ends), first):
                    yield name, said and f"{name} {i} ({source.name}, seed {seed}): {said}", done
            seconds -= time.monotonic() - start


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--count", type=int)
    parser.add_argument("--seconds", type=float, default=math.inf)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="commands, comma-separated")
    arguments = parser.parse_args()
    counts, ends = collections.Counter(), collections.Counter()
    names = [n for n in arguments.only.split(",") if n]
    count = arguments.count if arguments.count is not None else 500 if arguments.seconds == math.inf else sys.maxsize
    for name, said, done in attack(os.path.abspath(arguments.program), count, names, arguments.seed, arguments.seconds):
        counts[bool(said)] += 1
        ends[name, done.status, "crashed" in done.err] += 1
        if said:
            print(said, flush=True)
    for (name, status, crashed), count in sorted(ends.items()):
        print(f"{name}: {count} with exit {status}" + (", HDF5 crashed in a child" if crashed else ""))
    print(f"{counts[False]} passed, {counts[True]} failed")
    return 1 if counts[True] or not counts[False] else 0


if __name__ == "__main__":
    sys.exit(main())
