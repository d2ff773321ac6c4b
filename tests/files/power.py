# SPDX-License-Identifier: Apache-2.0
"""A disk that loses power, simulated from the calls that a program made (tests/fixtures/journal.c).

After a power cut a file keeps what an fsync() of the file has confirmed, and a folder keeps the names that an fsync() of the
folder has confirmed. The rest may be lost: any of each folder's changes; of the later writes to a file everything after some
point, or everything except the new size, filled with zeros."""
import itertools
import os
import pathlib
import subprocess
from dataclasses import dataclass, field

import at_call

SHIM = os.path.join(os.path.dirname(at_call.PROGRAM), "libjournal.so")


def recorded(words, journal, said, given):
    """Everything that the program asks of the disk while it runs; its output goes to the file `said`."""
    environment = at_call.environment("", 0, JOURNAL=journal)
    environment["LD_PRELOAD"] += ":" + SHIM
    with open(said, "w") as out:
        subprocess.run([at_call.PROGRAM, *words], env=environment, check=True, input=given.encode(), stdout=out,
                       stderr=subprocess.DEVNULL)  # fmt: skip
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
class Folder:
    names: dict = field(default_factory=dict)  # name -> File or Folder
    safe: dict = field(default_factory=dict)  # names at the last fsync()
    changes: list = field(default_factory=list)  # changes since the last fsync(): ((name, File, Folder or None), ...)

    def change(self, *named):
        self.changes.append(named)
        self.names = self.changed(self.names, named)

    def sync(self):
        self.safe, self.changes = self.names, []

    @staticmethod
    def changed(names, named):
        names = {**names, **dict(named)}
        return {name: item for name, item in names.items() if item is not None}

    def left(self, share):
        """Possible contents: path -> bytes, or None for a folder. They differ in which of the last six changes are kept; earlier
        ones are either all kept or all lost."""
        late = min(6, len(self.changes))
        for early, *kept in itertools.product((False, True), repeat=1 + late):
            names = self.safe
            for named in itertools.compress(self.changes, [early] * (len(self.changes) - late) + kept):
                names = self.changed(names, named)
            for each in itertools.product(*(self.below(name, item, share) for name, item in names.items())):
                yield {path: data for part in each for path, data in part.items()}

    @staticmethod
    def below(name, item, share):
        if isinstance(item, File):
            return [{name: item.left(share)}]
        return [{name: None, **{f"{name}/{path}": data for path, data in left.items()}} for left in item.left(share)]


class Disk:
    def __init__(self, root):
        """The folder `root`, with whatever is there, all of it safe."""
        self.root, self.items = root, {}  # inode number -> File or Folder
        for at, folders, files in os.walk(root):
            self.items[os.stat(at).st_ino] = folder = Folder()
            for name in files:
                data = pathlib.Path(at, name).read_bytes()
                folder.names[name] = self.items[os.stat(os.path.join(at, name)).st_ino] = File(data, data)
            if at != root:
                self.place(at)[0].names[os.path.basename(at)] = folder
        for item in self.items.values():
            if isinstance(item, Folder):
                item.sync()

    def place(self, path):
        """The folder that contains a path, and the path's name there."""
        folder, (*parts, name) = self.items[os.stat(self.root).st_ino], os.path.relpath(path, self.root).split(os.sep)
        for part in parts:
            folder = folder.names[part]
        return folder, name

    def follow(self, what, number, at, data, path, other):
        if what in ("create", "mkdir"):
            folder, name = self.place(path)
            self.items[number] = File() if what == "create" else Folder()
            folder.change((name, self.items[number]))
        elif what in ("rename", "exchange", "link"):
            folder, name = self.place(path)
            into, called = self.place(other)
            assert folder is into, "a name moves to another folder"
            left = {"rename": None, "exchange": into.names.get(called), "link": folder.names[name]}[what]
            folder.change((called, folder.names[name]), (name, left))
        elif what in ("unlink", "rmdir"):
            folder, name = self.place(path)
            folder.change((name, None))
        elif number in self.items:
            item = self.items[number]
            if what == "write":
                item.write(at, data)
            elif what == "truncate":
                item.written = item.written[:at].ljust(at, b"\0")
            elif what == "fsync":
                item.safe = item.written
            elif what == "folder":
                item.sync()

    def left(self):
        """Possible contents of the disk after a power cut, for four fractions of the writes that were not synchronised."""
        for share in (0, None, 0.5, 1):
            yield from self.items[os.stat(self.root).st_ino].left(share)


def contents(folder):
    """Path -> bytes, or None for a folder, of everything in the folder."""
    paths = pathlib.Path(folder).rglob("*")
    return {str(path.relative_to(folder)): None if path.is_dir() else path.read_bytes() for path in paths}


def cuts(words, folder, journal, said, given=""):
    """Possible contents of the folder after a power cut right after any call of the program, or after its last output: (path,
    bytes or None) for each, and the most that the program can have printed by then. `given` is its standard input."""
    disk, states = Disk(folder), {}

    def cut(length):
        for left in disk.left():
            state = tuple(sorted(left.items()))
            states[state] = max(length, states.get(state, 0))

    for what, length, *call in recorded(words, journal, said, given):
        disk.follow(what, *call)
        cut(length)
    cut(os.path.getsize(said))
    *_, everything = disk.left()  # all changes are kept in the last one
    assert everything == contents(folder), "the journal lacks calls"
    return states
