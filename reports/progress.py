# SPDX-License-Identifier: Apache-2.0
"""Prints "[i/N] what, time remaining". On a terminal the line is replaced; elsewhere a new line comes every ten
seconds."""
from __future__ import annotations

import os
import time


class Progress:
    """Prints progress to a file descriptor; prints nothing if the descriptor is None."""

    def __init__(self, what: str, total: int, descriptor: int | None = None) -> None:
        self.what, self.total, self.done, self.descriptor = what, total, 0, descriptor
        self.terminal = descriptor is not None and os.isatty(descriptor)
        self.start = self.told = time.monotonic()

    def say(self, text: str) -> None:
        assert self.descriptor is not None
        os.write(self.descriptor, text.encode())

    def advance(self, by: int) -> None:
        self.done += by
        now = time.monotonic()
        if self.descriptor is None or not self.terminal and now - self.told < 10:
            return
        self.told = now
        left = int((now - self.start) / self.done * (self.total - self.done) + 0.5)
        line = f"[{self.done}/{self.total}] {self.what}, {left // 60}:{left % 60:02} remaining"
        self.say(f"\r\033[K{line}" if self.terminal else line + "\n")

    def end(self) -> None:
        if self.terminal:
            self.say("\r\033[K")
