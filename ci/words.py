#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Finds words that this project replaced (ci/words.txt).

    ci/words.py             # exit 1 if a document or a clean folder has one, or another folder has more files with one than listed
    ci/words.py --list      # every place
    ci/words.py --documents # documents only

A line of ci/words.txt is "pattern -> better" (a Python regular expression), or "FOLDER: N", a folder in which N files still have
such words. N may only become smaller; a folder that is not listed has none."""

from __future__ import annotations

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
DOCUMENTS = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/*.md", "examples/README.md")
SOURCES = (".cpp", ".hpp", ".py", ".sh", ".toml", ".html", ".js")


def rules() -> tuple[list[tuple[re.Pattern[str], str]], dict[str, int]]:
    words, allowed = [], {}
    for line in (ROOT / "ci" / "words.txt").read_text(encoding="utf-8").splitlines():
        pattern, arrow, better = line.partition(" -> ")
        if line.startswith("#") or not line.strip():
            continue
        if arrow:
            words.append((re.compile(pattern, re.I), better))
        else:
            folder, _, count = line.partition(": ")
            allowed[folder] = int(count)
    return words, allowed


def prose_of(path: pathlib.Path) -> str:
    """The text of a document or script; of a C++ file, its comments and string literals. Lines are joined, because a phrase
    may continue on the next line."""
    text = path.read_text(encoding="utf-8", errors="replace")
    if path.suffix in (".cpp", ".hpp"):
        pieces = re.findall(r'//+([^\n]*)|"((?:[^"\\\n]|\\.)*)"', text)
        text = " ".join(comment or literal for comment, literal in pieces)
    text = re.sub(r"\n\s*# ", " ", re.sub(r"(?s)<!-- table.*?<!-- end -->", "", text))
    return re.sub(r"\s+", " ", text)


def found_in(path: pathlib.Path, words: list[tuple[re.Pattern[str], str]]) -> list[str]:
    text = prose_of(path)
    return [f"{path.relative_to(ROOT)}: “{match[0]}”: {better}" for pattern, better in words for match in pattern.finditer(text)]


def folder_of(path: str) -> str:
    parts = path.split("/")[:-1]
    return "/".join(parts[:2] if parts[0] in ("harness", "tests") else parts[:1])


def main() -> int:
    words, allowed = rules()
    bad = [line for pattern in DOCUMENTS for path in sorted(ROOT.glob(pattern)) for line in found_in(path, words)]
    folders: dict[str, list[list[str]]] = {}
    sources = [] if "--documents" in sys.argv else ["git", "ls-files"]
    tracked = subprocess.run(sources, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\n") if sources else []
    for name in tracked:
        if name.endswith(SOURCES) and "/" in name and (ROOT / name).is_file():
            found = found_in(ROOT / name, words)
            if found:
                folders.setdefault(folder_of(name), []).append(found)
    for folder in sorted({*folders, *(() if "--documents" in sys.argv else allowed)}):
        files = folders.get(folder, [])
        if len(files) > allowed.get(folder, 0):
            bad += [f"{folder}: {len(files)} files have replaced words, {allowed.get(folder, 0)} are allowed"]
            if folder not in allowed:
                bad += [line for found in files for line in found]
        elif len(files) < allowed[folder]:
            print(f"ci/words.txt: lower {folder} to {len(files)}")
    if "--list" in sys.argv:
        print("\n".join(line for files in folders.values() for found in files for line in found))
    print("\n".join(bad), file=sys.stderr, end="\n" if bad else "")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
