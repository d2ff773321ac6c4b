# SPDX-License-Identifier: Apache-2.0
"""report.py RESULTS.h5 ... -o DIR: writes DIR/index.html, which needs no other file, and DIR/figures/*.svg and *.png.

Exit codes: 0 written; 2 usage; 3 a file that cannot be read or a folder that cannot be written (one line on
standard error, nothing left behind)."""
import argparse
import multiprocessing
import os
import shutil
import signal
import sys
import tempfile

import read


def is_ours(folder):
    """True where folder/index.html is an earlier report, whose figures may be replaced."""
    try:
        with open(os.path.join(folder, "index.html"), encoding="utf-8", errors="replace") as f:
            return 'name="generator" content="recollect report"' in f.read(4096)
    except OSError:
        return False


def force_to_disk(folder):
    """Every file below `folder`, and the folders."""
    for at, _, names in os.walk(folder):
        for path in [os.path.join(at, name) for name in names] + [at]:
            descriptor = os.open(path, os.O_RDONLY)
            os.fsync(descriptor)
            os.close(descriptor)


def publish(new, folder):
    """Moves a finished report into place: the figures first, the page last, each in one step."""
    force_to_disk(new)
    os.makedirs(folder, exist_ok=True)
    target = os.path.join(folder, "figures")
    if os.path.lexists(target):
        shutil.rmtree(target)
    os.rename(os.path.join(new, "figures"), target)
    os.replace(os.path.join(new, "index.html"), os.path.join(folder, "index.html"))


def check_folder(folder):
    """Refuses a folder that cannot take a report, before any work is done."""
    if os.path.exists(folder) and not os.path.isdir(folder):
        raise OSError(f"{folder} exists and is not a folder")
    target = os.path.join(folder, "figures")
    if os.path.lexists(target) and not is_ours(folder):
        raise OSError(f"{target} exists and belongs to no report: choose another folder")


def give_up(new):
    """Ends at once and leaves nothing. (An exception would be lost where the signal meets a fork's callbacks.)"""
    for worker in multiprocessing.active_children():
        worker.kill()
        worker.join()
    shutil.rmtree(new, ignore_errors=True)
    os._exit(3)


def write_report(paths, folder):
    folder = os.path.abspath(folder)
    check_folder(folder)
    results = read.read(paths)
    import draw  # the drawing library takes seconds to load: a refusal does not wait for it
    import page

    parent = os.path.dirname(folder)
    os.makedirs(parent, exist_ok=True)
    new = tempfile.mkdtemp(prefix=".report-", dir=parent)
    signal.signal(signal.SIGTERM, lambda *_: give_up(new))
    try:
        pictures = draw.draw(results, os.path.join(new, "figures"))
        with open(os.path.join(new, "index.html"), "w", encoding="utf-8") as f:
            f.write(page.page(results, pictures, draw.SECTIONS))
        publish(new, folder)
    finally:
        shutil.rmtree(new, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(prog="recollect report", description="One page and its figures from result files.")
    parser.add_argument("results", nargs="+", metavar="RESULTS.h5")
    parser.add_argument("-o", "--output", required=True, metavar="DIR")
    arguments = parser.parse_args()
    try:
        write_report(arguments.results, arguments.output)
    except (read.Unreadable, OSError) as failure:
        print(f"recollect report: {' '.join(str(failure).split())}", file=sys.stderr)
        return 3
    except Exception as failure:  # a readable file that holds nonsense; memory that runs out
        said = f"{type(failure).__name__}: {failure}"
        print(f"recollect report: no page can be made of these files: {' '.join(said.split())[:500]}", file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
