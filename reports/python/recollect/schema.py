# SPDX-License-Identifier: Apache-2.0
"""The HDF5 schema of result files, as harness/files/results.cpp writes it: tables with named columns, and attributes.

All Python code reads result files through this module: `recollect.load` makes frames of the tables, and the report
makes dataclasses."""
from __future__ import annotations

import contextlib
import math
import os
from os import PathLike
from typing import Any, Iterator, Union

import h5py
import numpy as np
from numpy.typing import NDArray

SCHEMA, VERSIONS = "recollect results", (1, 2, 3, 4, 5)

Value = Union[int, float, str]
Row = dict[str, Any]
Column = Union[NDArray[Any], list[str]]


class Unreadable(ValueError):
    """A file has no results that this package can read. The message is one line that names the file."""


def plain(value: Any) -> Any:
    """An HDF5 scalar as a Python str, int or float. Invalid UTF-8 becomes U+FFFD."""
    if isinstance(value, str):
        value = value.encode("utf-8", "surrogateescape")
    if isinstance(value, bytes):
        return value.split(b"\0")[0].decode("utf-8", "replace")
    return value.item() if isinstance(value, np.generic) else value


def value_of(row: Row) -> Value:
    """The value in a row of a table of parameters: the text if there is one, else the number. Whole numbers are int."""
    text: str = row.get("text", "")
    if text:
        return text
    number: float = row["value"]
    return int(number) if math.isfinite(number) and number == int(number) else number


class ResultFile:
    """An open result file."""

    def __init__(self, path: str, file: h5py.File) -> None:
        self.path = path
        self._file = file
        self.meta = {name: str(plain(value)) for name, value in file["meta"].attrs.items()}

    def columns(self, name: str) -> dict[str, Column]:
        """{name: column} of a table; {} if the file has no such table. Columns are lists of texts or arrays of
        numbers."""
        if name not in self._file:
            return {}
        table = self._file[name][()]
        found: dict[str, Column] = {}
        for column in table.dtype.names:
            values = table[column]
            found[column] = [plain(x) for x in values.tolist()] if values.dtype.kind in "SO" else values
        return found

    def rows(self, name: str) -> list[Row]:
        """The rows of a table as dictionaries; [] if the file has no such table."""
        columns = self.columns(name)
        lists = [c if isinstance(c, list) else c.tolist() for c in columns.values()]
        return [dict(zip(columns, row)) for row in zip(*lists)]

    def series(self) -> dict[str, dict[str, NDArray[Any]]]:
        """{name of a series: its columns case, step and value}."""
        names = list(self._file["series"]) if "series" in self._file else []
        tables = {name: self._file["series"][name][()] for name in names}
        return {name: {column: table[column] for column in table.dtype.names} for name, table in tables.items()}


def _validated(path: str, file: h5py.File) -> ResultFile:
    schema, version = plain(file.attrs.get("schema", "")), int(np.ravel(file.attrs.get("schema_version", 0))[0])
    if schema != SCHEMA:
        raise Unreadable(f"{path} holds no recollect results (its schema attribute is {schema!r}, not {SCHEMA!r})")
    if version not in VERSIONS:
        known = f"{VERSIONS[0]} to {VERSIONS[-1]}"
        raise Unreadable(f"{path} has schema version {version}; this version reads {known}")
    return ResultFile(path, file)


@contextlib.contextmanager
def opened(path: str | PathLike[str]) -> Iterator[ResultFile]:
    """A context with the results of a file. Raises FileNotFoundError if the file does not exist, and Unreadable (a
    ValueError) if it is damaged or of another kind, even if this is noticed only while it is read."""
    name = os.fspath(path)
    if not os.path.isfile(name):
        raise FileNotFoundError(f"no such file: {name}")
    try:
        file = h5py.File(name, "r")
    except OSError:
        raise Unreadable(f"{name} is not a readable HDF5 file: it is damaged, unfinished or of another kind") from None
    with file:
        try:
            yield _validated(name, file)
        except Unreadable:
            raise
        except (OSError, KeyError, ValueError, TypeError, RuntimeError, AttributeError) as failure:
            raise Unreadable(f"{name} is damaged: {' '.join(str(failure).split())}") from None
