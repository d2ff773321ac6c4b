# SPDX-License-Identifier: Apache-2.0
"""A process of `recollect serve` that this Python process starts. It runs commands until the Python process ends.

Arrays are passed to it as files, in a folder that is in memory (/dev/shm) if the system has it.
"""
from __future__ import annotations

import atexit
import json
import os
import shutil
import subprocess
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Sequence

from recollect.program import find_program


class RecollectError(Exception):
    """The program refused a command, for instance because of an unknown layer or flag, or an array of the wrong shape.
    The message is the program's."""


@dataclass(frozen=True)
class Answer:
    """Output of a command and its exit status. 0: all is right; 1: wrong or undecided. Any other status raises
    RecollectError instead."""

    status: int
    out: str
    err: str


class Worker:
    """The process of `recollect serve`. It is started on first use, and again if it died. close() ends it and removes
    its folder."""

    def __init__(self) -> None:
        memory = "/dev/shm"
        self.folder = Path(tempfile.mkdtemp(prefix="recollect-", dir=memory if os.access(memory, os.W_OK) else None))
        self._process: subprocess.Popen[str] | None = None
        self._said: IO[str] | None = None  # its standard error
        self._owner = os.getpid()
        self._lock = threading.RLock()

    def belongs_here(self) -> bool:
        """Whether this process made the worker. False in a forked child, which must not use the pipes of its parent."""
        return self._owner == os.getpid()

    def run(self, words: Sequence[str]) -> Answer:
        """Runs a command and returns its output and status. RecollectError if the command was refused (status 2) or
        could not read a file (status 3), or if the process of the worker died."""
        with self._lock:
            answer = self._ask(list(words))
        if answer.status not in (0, 1):
            raise RecollectError(answer.err.strip().removeprefix("recollect: "))
        return answer

    def _ask(self, words: list[str]) -> Answer:
        process = self._start()
        assert process.stdin and process.stdout
        try:
            process.stdin.write(json.dumps({"args": words}) + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            self._process = None
            raise RecollectError(f"recollect {words[0]} ended with status {process.wait()}: {self._last_words()}")
        fields = json.loads(line)
        return Answer(fields["status"], fields["out"], fields["err"])

    def _start(self) -> subprocess.Popen[str]:
        if self._process is None or self._process.poll() is not None:
            environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}  # unfolded lines
            self._said = tempfile.TemporaryFile("w+")
            self._process = subprocess.Popen(
                [find_program(), "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._said,
                text=True, env=environment)  # fmt: skip
        return self._process

    def _last_words(self) -> str:
        if self._said is None:
            return ""
        self._said.seek(0)
        lines = self._said.read().strip().splitlines()
        return lines[-1] if lines else "it said nothing"

    def close(self) -> None:
        """Ends the process and removes the folder; does nothing in a forked child."""
        if not self.belongs_here():
            return
        if self._process is not None and self._process.stdin:
            self._process.stdin.close()
            self._process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


_worker: Worker | None = None


def worker() -> Worker:
    """The worker of this Python process; made at the first call."""
    global _worker
    if _worker is None or not _worker.belongs_here():
        _worker = Worker()
        atexit.register(_worker.close)
    return _worker
