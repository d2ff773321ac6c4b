# SPDX-License-Identifier: Apache-2.0
"""Kills or stops the program right before a chosen system call (tests/fixtures/faults.c), so that it ends at the same place
however busy the machine is. The program's clock advances by a second whenever it is read: results are saved every ten readings
and the state of a training every 34."""
import os
import signal
import subprocess

PROGRAM = os.environ["RECOLLECT_PROGRAM"]
SHIM = os.path.join(os.path.dirname(PROGRAM), "libfaults.so")
KINDS = ("open", "write", "fsync", "rename", "unlink")


def environment(kind, at, **more):
    return dict(os.environ, LD_PRELOAD=SHIM, FAULT_KIND=kind, FAULT_AT=str(at), FAULT_CLOCK="1", **more)


def calls(words, kind, count, **more):
    """Number of calls of a kind in a whole run. `count` is the file to which the shim writes it."""
    subprocess.run([PROGRAM, *words], env=environment(kind, 0, FAULT_COUNT=count, **more), check=True, capture_output=True)
    with open(count) as f:
        return int(f.read())


def started(words, kind, at, sent, stdout):
    def heed():  # a shell's background processes ignore SIGINT and pass that on
        if sent not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(sent, signal.SIG_DFL)

    return subprocess.Popen([PROGRAM, *words], env=environment(kind, at, FAULT_SIGNAL=str(int(sent))), stdout=stdout,
                            stderr=subprocess.DEVNULL, preexec_fn=heed)  # fmt: skip


def killed(words, kind, at, by=signal.SIGKILL, stdout=subprocess.DEVNULL):
    status = started(words, kind, at, by, stdout).wait()
    assert status == -by, f"{words}: exit {status}, not killed at {kind} {at}"


def stopped(words, kind, at, stdout=subprocess.DEVNULL):
    """The process, stopped before the call; SIGCONT continues it."""
    process = started(words, kind, at, signal.SIGSTOP, stdout)
    _, status = os.waitpid(process.pid, os.WUNTRACED)
    assert os.WIFSTOPPED(status), f"{words}: ended without {kind} {at}"
    return process
