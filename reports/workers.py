# SPDX-License-Identifier: Apache-2.0
"""Spreads work over forked processes, the workers. A worker writes its results to files, sends one byte per finished
item and at most one message, and ends with an exit status. So little fits into the pipes, and no deadlock is
possible."""
from __future__ import annotations

import ctypes
import os
import select
import signal
from typing import Callable, NoReturn, TypeVar

Item = TypeVar("Item")
running: list[int] = []  # process ids


def live(parent: int, work: Callable[[Item], None], items: list[Item], finished: int, errors: int) -> NoReturn:
    """The body of a worker process."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: killed when the parent ends
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if os.getppid() != parent:
        os._exit(1)
    status = 1
    try:
        for item in items:
            work(item)
            os.write(finished, b".")
        status = 0
    except BaseException as failure:
        os.write(errors, f"{type(failure).__name__}: {failure}".encode()[:4000])  # fits into the pipe
    finally:
        os._exit(status)


def end() -> None:
    """Kills all running workers."""
    while running:
        pid = running.pop()
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def read(pipe: int) -> bytes:
    """Waits for bytes in the pipe and returns them; empty at the end of the pipe. Each single wait lasts at most a
    second, because Python handles a signal that arrives just before a wait only after this wait."""
    while not select.select([pipe], [], [], 1)[0]:
        pass
    return os.read(pipe, 4096)


def spread(
    work: Callable[[Item], None], items: list[Item], advance: Callable[[int], None] = lambda count: None
) -> None:
    """Calls work(item) for every item, on all cores. Meanwhile calls advance(number of items finished since the last
    call). OSError if a worker fails or dies."""
    count = min(len(os.sched_getaffinity(0)), len(items))
    parent, (said, errors), (heard, finished) = os.getpid(), os.pipe(), os.pipe()
    open_ = {said, errors, heard, finished}
    try:
        for first in range(count):
            pid = os.fork()
            if pid == 0:
                live(parent, work, items[first::count], finished, errors)
            running.append(pid)
        for descriptor in (errors, finished):  # only workers write to these
            os.close(descriptor)
        open_.difference_update((errors, finished))
        while some := read(heard):  # empty once the last worker has ended, for whatever reason
            advance(len(some))
        while running:
            _, status = os.waitpid(running[0], 0)
            running.pop(0)
            if status:
                message = os.read(said, 4096).decode("utf-8", "replace") if os.WIFEXITED(status) else ""
                raise OSError(message or "a process that drew figures died: was it killed, or did memory run out?")
    finally:
        end()
        for descriptor in open_:
            os.close(descriptor)
