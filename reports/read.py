# SPDX-License-Identifier: Apache-2.0
"""HDF5 result files -> plain dictionaries and lists. The schema is written by harness/record.cpp."""
import math
import os

import h5py
import numpy as np

SCHEMA, VERSION = "recollect results", 1


class Unreadable(Exception):
    """A file that no report can be made of; the message is one line naming it."""


def plain(value):
    """A Python str, int or float for any HDF5 scalar."""
    if isinstance(value, bytes):
        return value.split(b"\0")[0].decode("utf-8", "replace")
    return value.item() if isinstance(value, np.generic) else value


def rows_of(file, name):
    """The rows of a compound dataset as dictionaries; [] where the file has none."""
    if name not in file:
        return []
    table = file[name][()]
    columns = {c: [plain(x) for x in table[c].tolist()] for c in table.dtype.names}
    return [dict(zip(columns, row)) for row in zip(*columns.values())]


def value_of(row):
    """A parameter's value: its text where it has one, else its number, whole numbers as int."""
    if row["text"]:
        return row["text"]
    number = row["value"]
    return int(number) if math.isfinite(number) and number == int(number) else number


def read_cases(file):
    """The runs of one file: one dictionary a planned case, with its parameters, record, metrics, seconds and series."""
    cases = {}
    for row in rows_of(file, "plan"):
        cases[row["case"]] = dict(
            row,
            family=row.get("family") or "other",
            status="not run",
            reason="the run ended before it",
            params={},
            metrics={},
            seconds=[],
            series={},
        )
    for row in rows_of(file, "parameters"):
        cases[row["case"]]["params"].setdefault(row["owner"], {})[row["name"]] = value_of(row)
    for row in rows_of(file, "records"):
        cases[row["case"]].update(row)
    for row in rows_of(file, "metrics"):
        cases[row["case"]]["metrics"][row["metric"]] = row["value"]
    for row in rows_of(file, "samples"):
        cases[row["case"]]["seconds"].append(row["seconds"])
    for name in file["series"] if "series" in file else []:
        table = file["series"][name][()]
        for case in np.unique(table["case"]):
            mine = table[table["case"] == case]
            cases[int(case)]["series"][name] = mine["value"][np.argsort(mine["step"], kind="stable")]
    return list(cases.values())


def read_claims(file):
    """The findings of one file by claim id. A claim without a single point was never measured: inconclusive, failed."""
    claims = {}
    for row in rows_of(file, "claim_texts"):
        claims[row["claim"]] = dict(
            row,
            id=row["claim"],
            covers=row["covers"].split(),
            verdict="inconclusive",
            expected="",
            control_verdict="inconclusive",
            passed=False,
            points=[],
            control=[],
        )
    for row in rows_of(file, "claims"):
        claim = claims[row["claim"]]
        claim.update(
            verdict=row["claim_verdict"],
            expected=row["expected"],
            control_verdict=row["control"],
            passed=bool(row["passed"]),
        )
        claim["control" if row["is_control"] else "points"].append(dict(row, params={}))
    points = {(id, p["point"]): p for id, claim in claims.items() for p in claim["points"]}
    for row in rows_of(file, "claim_parameters"):
        points[row["claim"], row["point"]]["params"][row["name"]] = value_of(row)
    return claims


def read_file(path):
    """{path, meta, cases, claims} of one result file."""
    if not os.path.isfile(path):
        raise Unreadable(f"no such file: {path}")
    try:
        file = h5py.File(path, "r")
    except OSError:
        raise Unreadable(f"{path} is not a readable HDF5 file: it is damaged, unfinished or of another kind") from None
    with file:
        try:
            schema, version = plain(file.attrs.get("schema", "")), int(np.ravel(file.attrs.get("schema_version", 0))[0])
            if schema != SCHEMA:
                raise Unreadable(
                    f"{path} holds no recollect results (its schema attribute is {schema!r}, not {SCHEMA!r})"
                )
            if version != VERSION:
                raise Unreadable(f"{path} has schema version {version}; this report reads version {VERSION}")
            meta = {name: str(plain(value)) for name, value in file["meta"].attrs.items()}
            return {"path": path, "meta": meta, "cases": read_cases(file), "claims": read_claims(file)}
        except (OSError, KeyError, ValueError, TypeError, RuntimeError, AttributeError) as failure:
            raise Unreadable(f"{path} is damaged: {' '.join(str(failure).split())}") from None


def read(paths):
    """All files as one: cases side by side; of a claim measured twice, the last file's finding."""
    files = [read_file(path) for path in paths]
    claims = {}
    for file in files:
        for id, claim in file["claims"].items():
            claims.pop(id, None)  # the order is that of the last measurement
            claims[id] = dict(claim, path=file["path"])
    return {"files": files, "cases": [c for f in files for c in f["cases"]], "claims": list(claims.values())}


def strain(point):
    """How near a point is to its tolerance or beyond it; the paper's own statement first."""
    if point["tolerance"] > 0:
        ratio = abs(point["measured"] - point["predicted"]) / point["tolerance"]
    else:
        ratio = 0.0 if point["measured"] == point["predicted"] else math.inf
    return (point["tier"] == "paper", point["verdict"] != "holds", 0.0 if math.isnan(ratio) else ratio)


def decisive(claim):
    """The point a reader wants first, or None: the paper's statement, else the one furthest beyond its tolerance."""
    return max(claim["points"], key=lambda p: (p["verdict"] != "holds", *strain(p)), default=None)
