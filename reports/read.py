# SPDX-License-Identifier: Apache-2.0
"""HDF5 result files -> plain dictionaries and lists. The schema is written by harness/files/results.cpp."""
import csv
import math
import os
import re

import h5py
import numpy as np

import device_speed
import trainings

SCHEMA, VERSIONS = "recollect results", (1, 2, 3, 4, 5)


class Unreadable(Exception):
    """A file that no report can be made of; the message is one line naming it."""


def plain(value):
    """A Python str, int or float for any HDF5 scalar. What is not UTF-8 in a text becomes U+FFFD."""
    if isinstance(value, str):
        value = value.encode("utf-8", "surrogateescape")
    if isinstance(value, bytes):
        return value.split(b"\0")[0].decode("utf-8", "replace")
    return value.item() if isinstance(value, np.generic) else value


def file_name(name):
    """A name that pages and figures are called after. Whoever wrote another did not write it with this program."""
    if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}", name):
        raise ValueError(f"'{name[:40]}' cannot be the name of a page")
    return name


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
        file_name(row["variant"]), file_name(row["task"])
        cases[row["case"]] = dict(
            row,
            family=row.get("family") or "other",
            headline=row.get("headline", ""),
            better=row.get("better", ""),
            chance=row.get("chance", math.nan),
            ceiling=row.get("ceiling", math.nan),
            setting=row.get("setting", ""),
            experiment=row.get("experiment", ""),
            chosen={},
            state_bytes=math.nan,
            flops=math.nan,
            status="not run",
            reason="the run ended before it",
            params={},
            metrics={},
            seconds=[],
            series={},
        )
    for row in rows_of(file, "parameters"):
        cases[row["case"]]["params"].setdefault(row["owner"], {})[row["name"]] = value_of(row)
    for row in rows_of(file, "choices"):  # of a tuned case: what its trials chose, over what was planned
        cases[row["case"]]["chosen"][row["owner"], row["name"]] = value_of({"text": "", **row})
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


def point_of(row):
    """A row of /claims as a point. Version 1 had tiers for roles, and the points of one control a claim for rivals."""
    if "role" in row:
        return dict(row, params={})
    role = "rival" if row["is_control"] else {"paper": "statement", "limit": "limit"}.get(row["tier"], "obligation")
    rival, label = ("system", "control") if role == "rival" else ("", row["tier"])
    return dict(row, role=role, rival=rival, label=label, sensitivity=math.nan, params={})


def read_claims(file):
    """The findings of one file, the points apart from the rivals; {claim: finding}. What version 1 did not record is
    empty. A claim is found once in versions 1 and 2, later once for each of the points that were asked for."""
    texts = ("source", "statement", "exact", "explanation", "scope", "reason", "condition", "paragraph", "conditions", "next", "answer", "system", "covers", "variants", "expected")  # fmt: skip
    absent = {**dict.fromkeys(texts, ""), "verdict": "inconclusive", "passed": 0}
    findings, points = {}, {}

    def key(row):
        return row.get("finding", row["claim"])

    for row in rows_of(file, "claim_texts"):
        row = {**absent, **row}
        if row["verdict"] == "not_tested" and not row["reason"]:
            row["reason"] = "reason_not_in_the_file"  # a baseline keeps verdicts alone
        lists = {name: row[name].split() for name in ("covers", "variants")}
        findings[key(row)] = dict(row, **lists, id=file_name(row["claim"]), passed=bool(row["passed"]), points=[], rivals=[])
    for row in rows_of(file, "claim_plan"):  # of what the file found, how hard it looked
        if row["finding"] in findings:
            findings[row["finding"]].update(effort=row["effort"], seed=row["seed"])
    for row in rows_of(file, "claims"):
        claim, point = findings[key(row)], point_of(row)
        claim.update(verdict=row["claim_verdict"], expected=row["expected"], passed=bool(row["passed"]))
        claim["rivals" if point["role"] == "rival" else "points"].append(point)
        if not row.get("is_control"):  # version 1 numbers a control's points anew, and keeps no parameters of them
            points[key(row), row["point"]] = point
    for row in rows_of(file, "claim_parameters"):
        points[key(row), row["point"]]["params"][row["name"]] = value_of(row)
    claims = {}
    for claim in findings.values():
        claims[claim["id"]] = joined(claims[claim["id"]], claim) if claim["id"] in claims else claim
    return claims


def joined(one, other):
    """Two findings of one claim as one that passes where both do."""
    points, rivals = (one[name] + other[name] for name in ("points", "rivals"))
    return dict(other if one["passed"] else one, points=points, rivals=rivals)


def read_bench(file):
    """The timed cases of one file, each with its samples in seconds."""
    rows = {row["row"]: dict(row, seconds=[]) for row in rows_of(file, "bench")}
    for row in rows_of(file, "bench_samples"):
        rows[row["row"]]["seconds"].append(row["seconds"])
    return list(rows.values())


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
            if version not in VERSIONS:
                known = f"{VERSIONS[0]} to {VERSIONS[-1]}"
                raise Unreadable(f"{path} has schema version {version}; this report reads versions {known}")
            meta = {name: str(plain(value)) for name, value in file["meta"].attrs.items()}
            return {
                "path": plain(path),  # as it is shown
                "meta": meta,
                "cases": read_cases(file),
                "claims": read_claims(file),
                "experiments": {file_name(r["experiment"]): r for r in rows_of(file, "experiments")},
                "trainings": trainings.read(rows_of, file),
                "trained_statements": rows_of(file, "trained_statements"),
                "bench": read_bench(file),
                "growth": rows_of(file, "bench_growth"),
                "ceilings": {r["name"]: r["value"] for r in rows_of(file, "ceilings")},
            }
        except (OSError, KeyError, ValueError, TypeError, RuntimeError, AttributeError) as failure:
            raise Unreadable(f"{path} is damaged: {' '.join(str(failure).split())}") from None


def read_device(path):
    """The times of a device in a table of bench/collect.py."""
    try:
        return device_speed.read(path)
    except (OSError, ValueError, csv.Error) as failure:
        raise Unreadable(f"{path} cannot be read: {' '.join(str(failure).split())}") from None


def read(paths):
    """All files as one: cases side by side; of a claim measured twice, the last file's finding. A baseline, which keeps
    verdicts alone, never replaces a finding with its points."""
    devices = [read_device(path) for path in paths if path.endswith(".csv")]
    files = [read_file(path) for path in paths if not path.endswith(".csv")]
    claims = {}
    for file in files:
        for id, claim in file["claims"].items():
            if id in claims and claims[id]["source"] and not claim["source"]:
                continue
            claims.pop(id, None)  # the order is that of the last measurement
            claims[id] = dict(claim, path=file["path"])
    experiments = {name: e for f in files for name, e in f["experiments"].items()}
    return {
        "files": files,
        "devices": devices,
        "cases": [dict(c, file=i) for i, f in enumerate(files) for c in f["cases"]],
        "claims": list(claims.values()),
        "experiments": experiments,
        "trainings": [dict(t, file=i) for i, f in enumerate(files) for t in f["trainings"]],
        "trained_statements": [dict(s, file=i) for i, f in enumerate(files) for s in f["trained_statements"]],
        "bench": [dict(b, file=i) for i, f in enumerate(files) for b in f["bench"]],
        "growth": [g for f in files for g in f["growth"]],
        "ceilings": next((f["ceilings"] for f in reversed(files) if f["ceilings"]), {}),
    }
