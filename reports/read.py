# SPDX-License-Identifier: Apache-2.0
"""Reads result files into records (records.py). recollect.schema has the schema of the files."""
from __future__ import annotations

import csv
import re
from dataclasses import replace
from typing import Union

import numpy as np

from recollect.schema import ResultFile, Row, Unreadable, opened, plain, value_of
from reports import device_speed
from reports.records import BenchRow, Case, Claim, Device, Experiment, File, Point, Results, Statement, Trained, known

Key = Union[int, str]  # identifies a finding: its number, or in older files the name of its claim


def file_name(name: str) -> str:
    """Returns the name if it may be the file name of a page or figure; ValueError if not. The program writes only names
    that may."""
    if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}", name):
        raise ValueError(f"'{name[:40]}' cannot be the name of a page")
    return name


def case_of(row: Row) -> Case:
    case = Case(**known(Case, row))
    file_name(case.variant), file_name(case.task)
    case.family = case.family or "other"
    return case


def recorded(case: Case, row: Row) -> None:
    case.status, case.reason = row["status"], row["reason"]
    case.state_bytes, case.flops = row["state_bytes"], row["flops"]


def read_cases(file: ResultFile) -> list[Case]:
    """The cases of one file, one for each row of its plan, with parameters, record, metrics and series."""
    cases: dict[int, Case] = {row["case"]: case_of(row) for row in file.rows("plan")}
    for row in file.rows("parameters"):
        cases[row["case"]].params.setdefault(row["owner"], {})[row["name"]] = value_of(row)
    for row in file.rows("choices"):  # values that the trials of a tuned case chose, which override planned ones
        cases[row["case"]].chosen[row["owner"], row["name"]] = value_of(row)
    if "--state-bytes" in file.meta.get("command_line", ""):
        for case in cases.values():  # the run chose the widths d and dv for each layer, so they count as chosen
            planned = case.params.get(case.task, {})
            case.chosen.update({(case.task, name): planned.pop(name) for name in ("d", "dv") if name in planned})
    for row in file.rows("records"):
        recorded(cases[row["case"]], row)
    for row in file.rows("metrics"):
        cases[row["case"]].metrics[row["metric"]] = row["value"]
    for name, table in file.series().items():
        for number in np.unique(table["case"]):
            mine = table["case"] == number
            order = np.argsort(table["step"][mine], kind="stable")
            cases[int(number)].series[name] = table["value"][mine][order]
    return list(cases.values())


def point_of(row: Row) -> Point:
    """A row of /claims as a point. Files of schema version 1 have tiers instead of roles, and the points of a claim's
    control are rivals."""
    if "role" in row:
        return Point(**known(Point, row))
    role = "rival" if row["is_control"] else {"paper": "statement", "limit": "limit"}.get(row["tier"], "obligation")
    rival, label = ("system", "control") if role == "rival" else ("", row["tier"])
    return Point(**{**known(Point, row), "role": role, "rival": rival, "label": label})


def finding_of(row: Row) -> Key:
    key: Key = row.get("finding", row["claim"])
    return key


def claim_of(row: Row) -> Claim:
    lists: Row = {name: row.get(name, "").split() for name in ("covers", "variants")}
    claim = Claim(**dict(known(Claim, row), **lists, id=file_name(row["claim"])))
    claim.passed = bool(claim.passed)
    if claim.verdict == "not_tested" and not claim.reason:
        claim.reason = "reason_not_in_the_file"  # a baseline stores verdicts, but no reasons
    return claim


def read_claims(file: ResultFile) -> dict[str, Claim]:
    """{claim: finding} of one file, with rivals apart from other points. Fields that a file of schema version 1 lacks
    are empty. Files of versions 1 and 2 have one finding per claim; in later versions, a claim has a finding for each
    point that the user named."""
    findings: dict[Key, Claim] = {finding_of(row): claim_of(row) for row in file.rows("claim_texts")}
    points: dict[tuple[Key, int], Point] = {}
    for row in file.rows("claim_plan"):  # how the findings of the file were measured
        if row["finding"] in findings:
            findings[row["finding"]].effort = row["effort"]
            findings[row["finding"]].asked = bool(row.get("point"))
    for row in file.rows("claims"):
        claim, point = findings[finding_of(row)], point_of(row)
        claim.verdict, claim.expected, claim.passed = row["claim_verdict"], row["expected"], bool(row["passed"])
        (claim.rivals if point.role == "rival" else claim.points).append(point)
        if not row.get("is_control"):  # version 1 numbers the points of a control anew, without their parameters
            points[finding_of(row), row["point"]] = point
    for row in file.rows("claim_parameters"):
        points[finding_of(row), row["point"]].params[row["name"]] = value_of(row)
    claims: dict[str, Claim] = {}
    for claim in findings.values():
        for point in claim.points:
            point.asked = claim.asked
        claims[claim.id] = joined(claims[claim.id], claim) if claim.id in claims else claim
    return claims


def joined(one: Claim, other: Claim) -> Claim:
    """Joins two findings of a claim to one finding, which passes if both do."""
    points, rivals = one.points + other.points, one.rivals + other.rivals
    return replace(other if one.passed else one, points=points, rivals=rivals)


def read_trainings(file: ResultFile) -> list[Trained]:
    """The trained models of one file, each with its settings, its outcome and its curve."""
    runs: dict[int, Trained] = {row["run"]: Trained(**known(Trained, row)) for row in file.rows("training_plan")}
    for row in file.rows("training_parameters"):
        name = row["name"] if row["owner"] == "train" else f"{row['owner']}.{row['name']}"
        runs[row["run"]].settings[name] = row["text"] or row["value"]
    for row in file.rows("trained"):
        run = runs[row["run"]]
        run.status, run.loss, run.accuracy, run.chance = (row[n] for n in ("status", "loss", "accuracy", "chance"))
    for row in file.rows("trained_metrics"):
        runs[row["run"]].metrics[row["metric"]] = row["value"]
    for row in file.rows("training_curves"):
        runs[row["run"]].curve.append((row["step"], row["loss"], row["accuracy"]))
    return list(runs.values())


def bench_row(row: Row) -> BenchRow:
    return BenchRow(**known(BenchRow, row), pass_=row.get("pass", ""))


def read_file(path: str) -> File:
    """One result file."""
    with opened(path) as file:
        return File(
            path=plain(path),
            meta=file.meta,
            cases=read_cases(file),
            claims=read_claims(file),
            experiments={
                file_name(r["experiment"]): Experiment(**known(Experiment, r)) for r in file.rows("experiments")
            },
            trainings=read_trainings(file),
            statements=[Statement(**known(Statement, row)) for row in file.rows("trained_statements")],
            bench=[bench_row(row) for row in file.rows("bench")],
        )


def read_device(path: str) -> Device:
    """Reads a table of bench/collect.py. Unreadable if it cannot be read."""
    try:
        return device_speed.read(path)
    except (OSError, ValueError, csv.Error) as failure:
        raise Unreadable(f"{path} cannot be read: {' '.join(str(failure).split())}") from None


def read(paths: list[str]) -> Results:
    """Reads and joins all files. Cases are concatenated. If several files have a finding on the same claim, the finding
    of the last file counts, with two exceptions: a finding of a baseline, which has only a verdict, never replaces
    another finding; and points that the user named are added to the points of a suite."""
    devices = [read_device(path) for path in paths if path.endswith(".csv")]
    files = [read_file(path) for path in paths if not path.endswith(".csv")]
    claims: dict[str, Claim] = {}
    for file in files:
        for id, claim in file.claims.items():
            if id in claims and claims[id].source and not claim.source:
                continue
            claim, earlier = replace(claim, path=file.path), claims.pop(id, None)
            if earlier and earlier.points and claim.points and earlier.asked != claim.asked:
                suites, asked = (claim, earlier) if earlier.asked else (earlier, claim)
                claim = replace(joined(asked, suites), asked_path=asked.path)
            claims[id] = claim  # claims are in the order of their last measurement
    return Results(
        files=files,
        devices=devices,
        cases=[replace(c, file=i) for i, f in enumerate(files) for c in f.cases],
        claims=list(claims.values()),
        experiments={name: e for f in files for name, e in f.experiments.items()},
        trainings=[replace(t, file=i) for i, f in enumerate(files) for t in f.trainings],
        statements=[replace(s, file=i) for i, f in enumerate(files) for s in f.statements],
        bench=[replace(b, file=i) for i, f in enumerate(files) for b in f.bench],
    )
