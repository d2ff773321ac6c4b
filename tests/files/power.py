# SPDX-License-Identifier: Apache-2.0
"""A disk that loses power, simulated from the calls that a program made (tests/fixtures/journal.c).

After a power cut a file keeps what an fsync() of the file has confirmed, and a folder keeps the names that an fsync() of the
folder has confirmed. The rest may be lost: any of a folder's changes; of the later writes to a file everything after some
point, or everything except the new size, filled with zeros."""
import itertools
import os
import pathlib
import subprocess
from dataclasses import dataclass, field

import at_call

SHIM = os.path.join(os.path.dirname(at_call.PROGRAM), "libjournal.so")


def recorded(words, journal, said):
    """Everything that the program asks of the disk while it runs; its output goes to the file `said`."""
    environment = at_call.environment("", 0, JOURNAL=journal)
    environment["LD_PRELOAD"] += ":" + SHIM
    with open(said, "w") as out:
        subprocess.run([at_call.PROGRAM, *words], env=environment, check=True, stdout=out, stderr=subprocess.DEVNULL)
    with open(journal, "rb") as f:
        while line := f.readline():
            what, said, number, at, size, path, other = line.decode().rstrip("\n").split("\t")
            yield what, int(said), int(number), int(at), f.read(int(size)), path, other


@dataclass
class File:
    written: bytes = b""
    safe: bytes = b""  # contents at the last fsync()

    def write(self, at, data):
        self.written = self.written[:at].ljust(at, b"\0") + data + self.written[at + len(data) :]

    def left(self, share):
        """Contents with this fraction of the later writes. None: none of them, but with the new size."""
        if share is None:
            return self.safe.ljust(len(self.written), b"\0")
        if not self.written.startswith(self.safe):
            return self.written if share == 1 else self.safe
        return self.written[: len(self.safe) + int(share * (len(self.written) - len(self.safe)))]


@dataclass
class Disk:
    files: dict = field(default_factory=dict)  # inode number -> File
    names: dict = field(default_factory=dict)  # path -> File
    safe_names: dict = field(default_factory=dict)
    changes: list = field(default_factory=list)  # changes of names since the last fsync(): (path, File or None)

    def change(self, *named):
        self.changes.append(named)
        self.names = self.changed(self.names, named)

    @staticmethod
    def changed(names, named):
        names = {**names, **dict(named)}
        return {path: file for path, file in names.items() if file}

    def follow(self, what, number, at, data, path, other):
        if what == "create":
            self.files[number] = File()
            self.change((path, self.files[number]))
        elif what == "rename":
            self.change((other, self.names[path]), (path, None))
        elif what == "link":
            self.change((other, self.names[path]))
        elif what == "unlink":
            self.change((path, None))
        elif what == "folder":
            self.safe_names, self.changes = self.names, []
        elif number in self.files:
            file = self.files[number]
            if what == "write":
                file.write(at, data)
            elif what == "truncate":
                file.written = file.written[:at].ljust(at, b"\0")
            elif what == "fsync":
                file.safe = file.written

    def left(self):
        """Possible contents of the disk after a power cut, path -> bytes: for four fractions of the writes that were not
        synchronised, and for every subset of the last six renames. Earlier renames are either all kept or all lost."""
        late = min(6, len(self.changes))
        for early, *kept in itertools.product((False, True), repeat=1 + late):
            names = self.safe_names
            for named in itertools.compress(self.changes, [early] * (len(self.changes) - late) + kept):
                names = self.changed(names, named)
            for share in (0, None, 0.5, 1):
                yield {path: file.left(share) for path, file in names.items()}


def cuts(words, folder, journal, said):
    """Possible contents of the folder after a power cut right after any call of the program, or after its last output: (name,
    bytes) for each, and the most that the program can have printed by then."""
    disk, states = Disk(), {}

    def cut(length):
        for left in disk.left():
            state = tuple(sorted((os.path.basename(path), data) for path, data in left.items()))
            states[state] = max(length, states.get(state, 0))

    for what, length, *call in recorded(words, journal, said):
        disk.follow(what, *call)
        cut(length)
    cut(os.path.getsize(said))
    there = {path: pathlib.Path(path).read_bytes() for path in (os.path.join(folder, name) for name in os.listdir(folder))}
    assert there == {path: file.written for path, file in disk.names.items()}, "the journal lacks calls"
    return states
