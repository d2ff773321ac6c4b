# SPDX-License-Identifier: Apache-2.0
"""Puts a finished report in place in one step, so that readers always see the earlier report or the new one, even if
the program is interrupted.

A site is made in a separate folder beside the target folder, and the two folders are then exchanged. Files in the
target folder that no report wrote are kept. A table is written to a temporary file, which is then renamed."""
from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import os
import shutil
import signal
import tempfile
from typing import Iterator, NoReturn

from reports import workers

MANIFEST = ".recollect-report"  # lists every file of the report, one path per line
FOLDERS = ("figures", "claims", "layers", "tasks", "training", "speed")
AT_FDCWD, EXCHANGE = -100, 2  # for renameat2(2)


def files_below(folder: str) -> Iterator[str]:
    """Paths of all files below `folder`, relative to it."""
    for at, folders, names in os.walk(folder):
        links = [name for name in folders if os.path.islink(os.path.join(at, name))]
        for name in names + links:
            yield os.path.relpath(os.path.join(at, name), folder)


def is_report(folder: str) -> bool:
    try:
        with open(os.path.join(folder, "index.html"), encoding="utf-8", errors="replace") as f:
            return 'name="generator" content="recollect report"' in f.read(4096)
    except OSError:
        return False


def written_by_report(folder: str) -> set[str]:
    """The files that an earlier report wrote into the folder. A report without a manifest, which an earlier version
    wrote, consists of pages and the folders FOLDERS."""
    if not is_report(folder):
        return set()
    with contextlib.suppress(OSError), open(os.path.join(folder, MANIFEST), encoding="utf-8") as f:
        return set(f.read().split("\n"))
    pages = (".html", ".css", ".js")
    return {p for p in files_below(folder) if p.split(os.sep)[0] in FOLDERS or (os.sep not in p and p.endswith(pages))}


def check_folder(folder: str) -> None:
    """OSError if no site can be written into the folder. Called before any work is done."""
    if os.path.exists(folder) and not os.path.isdir(folder):
        raise OSError(f"{folder} exists and is not a folder")
    if os.path.exists(folder) and os.path.samefile(folder, os.getcwd()):
        raise OSError(f"{folder} is the current folder, which a site cannot replace: name another one")
    for name in (*FOLDERS, "index.html"):
        if os.path.lexists(os.path.join(folder, name)) and not is_report(folder):
            raise OSError(f"{os.path.join(folder, name)} exists and belongs to no report: choose another folder")


def force_to_disk(folder: str) -> None:
    """Forces all files and folders below `folder` to disk."""
    for at, _, names in os.walk(folder):
        for path in [os.path.join(at, name) for name in names] + [at]:
            if os.path.isfile(path) or os.path.isdir(path):
                descriptor = os.open(path, os.O_RDONLY)
                os.fsync(descriptor)
                os.close(descriptor)


def take_along(folder: str, new: str) -> None:
    """Makes hard links in `new` to those files of `folder` that no report wrote."""
    ours = written_by_report(folder)
    for path in files_below(folder):
        if path in ours or path == MANIFEST:
            continue
        source, target = os.path.join(folder, path), os.path.join(new, path)
        if os.path.lexists(target):
            raise OSError(f"{source} belongs to no report, and the report has a file of that name: move it away")
        os.makedirs(os.path.dirname(target), exist_ok=True)
        try:
            os.link(source, target, follow_symlinks=False)
        except OSError:  # the file system has no hard links
            shutil.copy2(source, target, follow_symlinks=False)


def exchange(new: str, folder: str) -> bool:
    """Exchanges the folders `folder` and `new` in one step. False if the system does not support this."""
    libc = ctypes.CDLL(None, use_errno=True)
    if not hasattr(libc, "renameat2"):
        return False
    if libc.renameat2(AT_FDCWD, os.fsencode(new), AT_FDCWD, os.fsencode(folder), EXCHANGE) == 0:
        return True
    failure = ctypes.get_errno()
    if failure in (errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP):
        return False
    raise OSError(failure, f"cannot replace {folder}: {os.strerror(failure)}")


def put_in_place(new: str, folder: str) -> None:
    """Moves the finished site from `new` to `folder`. Afterwards `new` has the old site, if there was one."""
    with open(os.path.join(new, MANIFEST), "w", encoding="utf-8") as f:
        f.write("\n".join(sorted(files_below(new))))
    os.chmod(new, os.stat(folder).st_mode & 0o7777 if os.path.isdir(folder) else 0o777 & ~umask())
    if not os.path.isdir(folder):
        force_to_disk(new)
        os.rename(new, folder)
    else:
        take_along(folder, new)
        force_to_disk(new)
        if not exchange(new, folder):
            old = new + ".old"
            os.rename(folder, old)
            try:
                os.rename(new, folder)
            except BaseException:
                os.rename(old, folder)
                raise
            os.rename(old, new)
    descriptor = os.open(os.path.dirname(folder), os.O_RDONLY)
    os.fsync(descriptor)
    os.close(descriptor)


def umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def remove_abandoned(parent: str) -> None:
    """Removes folders in `parent` that killed reports left behind. These are the folders whose lock no process
    holds."""
    for entry in os.scandir(parent):
        if entry.name.startswith(".report-") and entry.is_dir(follow_symlinks=False):
            with contextlib.suppress(OSError):
                descriptor = os.open(entry.path, os.O_RDONLY | os.O_DIRECTORY)
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    shutil.rmtree(entry.path, ignore_errors=True)
                finally:
                    os.close(descriptor)


@contextlib.contextmanager
def site(folder: str) -> Iterator[str]:
    """A context with a new folder for the pages, which is moved to `folder` at the end. An exception or a signal leaves
    nothing behind. If the process is killed, the new folder remains, and the next report removes it."""
    folder = os.path.realpath(folder)
    parent = os.path.dirname(folder)
    os.makedirs(parent, exist_ok=True)
    remove_abandoned(parent)
    new = tempfile.mkdtemp(prefix=".report-", dir=parent)
    held = os.open(new, os.O_RDONLY | os.O_DIRECTORY)
    with contextlib.suppress(
        OSError
    ):  # without locks in the file system, another report may remove the folder, and this report then fails
        fcntl.flock(held, fcntl.LOCK_EX)

    def give_up(*_: object) -> NoReturn:
        """Exits at once. (It does not raise, because an exception is lost if the signal comes during the callbacks of a
        fork.)"""
        workers.end()
        shutil.rmtree(new, ignore_errors=True)
        os._exit(3)

    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, give_up)
    try:
        yield new
        put_in_place(new, folder)
    finally:
        shutil.rmtree(new, ignore_errors=True)
        os.close(held)


def files(folder: str, contents: dict[str, str]) -> None:
    """Writes `contents`, {name of a file: text}, into `folder`. Each file appears in one step."""
    os.makedirs(folder, exist_ok=True)
    for name, text in contents.items():
        descriptor, path = tempfile.mkstemp(prefix=f".{name}-", dir=folder)
        try:
            with open(descriptor, "w", encoding="utf-8", newline="") as f:
                f.write(text)
                f.flush()
                os.fchmod(f.fileno(), 0o666 & ~umask())
                os.fsync(f.fileno())
            os.replace(path, os.path.join(folder, name))
        except BaseException:
            os.unlink(path)
            raise
