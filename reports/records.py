# SPDX-License-Identifier: Apache-2.0
"""Contents of result files as dataclasses. read.py makes them; nothing else reads files."""
from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass, field
from typing import Any, Counter, Optional, TypeVar, Union

from numpy.typing import NDArray

from recollect.schema import Row, Value

Params = dict[str, Value]
Chosen = dict[tuple[str, str], Value]  # (owner, name) -> value
Curve = NDArray[Any]


@dataclass
class Case:
    """A layer on a task with one seed, as planned and as recorded."""

    variant: str
    form: str
    task: str
    real: str
    chunk: int
    seed: int
    family: str = "other"
    headline: str = ""  # the task's first metric
    better: str = ""  # larger, smaller or neither
    chance: float = math.nan  # value of the headline metric for a random guess
    ceiling: float = math.nan
    setting: str = ""  # tuned, untuned, fixed, or trial
    experiment: str = ""
    status: str = "not run"
    reason: str = "the run ended before it"
    state_bytes: float = math.nan  # per head
    flops: float = math.nan  # per token and head
    params: dict[str, Params] = field(default_factory=dict)  # planned values, by owner: the task or the layer
    chosen: Chosen = field(default_factory=dict)  # values that tuning chose; they override planned values
    metrics: dict[str, float] = field(default_factory=dict)
    series: dict[str, Curve] = field(default_factory=dict)
    file: int = 0  # index of the file


@dataclass
class Summary:
    """A metric over seeds: mean, standard error (NaN for one seed) and values."""

    mean: float
    error: float
    values: list[float]


@dataclass
class Cell:
    """Cases that differ only in their seed."""

    experiment: str
    task: str
    variant: str
    status: str
    setting: str
    headline: Optional[str]
    direction: int  # 1 if larger is better, -1 if smaller is, else 0
    count: int  # number of cases, one per seed
    mean: float  # mean of the headline metric over seeds
    error: float
    params: dict[str, Params]
    chosen: Chosen = field(default_factory=dict)
    family: str = "other"
    form: str = ""
    real: str = ""
    file: int = 0
    reason: str = ""
    chance: float = math.nan
    ceiling: float = math.nan
    state_bytes: float = math.nan
    flops: float = math.nan
    seeds: list[int] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    metrics: dict[str, Summary] = field(default_factory=dict)
    series: dict[str, list[Curve]] = field(default_factory=dict)  # one curve per seed
    told: Params = field(default_factory=dict)  # the settings that distinguish this cell from others
    same: str = ""  # letter that layers with the same numbers share; "" if there are no such layers


@dataclass
class Blank:
    """A place of the matrix that has no cell, because the pair was not planned, or because it ran at several
    settings."""

    status: str
    reason: str


@dataclass
class Matrix:
    """The matrix of layers on tasks, one cell per pair."""

    tasks: list[str]
    variants: list[tuple[str, str]]  # (family, layer)
    cell: dict[tuple[str, str], Union[Cell, Blank]]  # by (layer, task)
    same: dict[str, dict[str, str]]  # task -> {layer: letter}; layers with the same numbers share a letter
    settings: dict[str, int]  # task -> number of its settings


@dataclass
class Point:
    """One comparison of a claim: a measured and a predicted value."""

    role: str  # statement, limit, condition, obligation or rival
    rival: str  # kind of a rival: law or system
    label: str
    measured: float
    predicted: float
    standard_error: float  # 0 if nothing is sampled
    tolerance: float
    relation: str  # equal, at_most or at_least
    verdict: str
    sensitivity: float = math.nan  # smallest relative error that the point detects
    params: Params = field(default_factory=dict)
    asked: bool = False  # whether the user named this point (--point)


@dataclass
class Claim:
    """A statement of a paper and its finding."""

    id: str
    version: Value = ""  # version of the claim (claim_version.hpp); older files have none
    verdict: str = "inconclusive"
    expected: str = ""
    passed: bool = False
    source: str = ""
    statement: str = ""
    exact: str = ""
    explanation: str = ""
    scope: str = ""  # scope of a refutation
    reason: str = ""  # why the claim is not tested
    condition: str = ""
    paragraph: str = ""
    conditions: str = ""
    next: str = ""
    answer: str = ""
    system: str = ""
    covers: list[str] = field(default_factory=list)  # rows of the ledger
    variants: list[str] = field(default_factory=list)
    points: list[Point] = field(default_factory=list)
    rivals: list[Point] = field(default_factory=list)
    effort: str = ""
    asked: bool = False  # whether it was measured at points that the user named (--point)
    path: str = ""  # path of the file with the finding
    asked_path: str = ""  # path of another file, whose points (named by the user) were added to those of the suite
    trained: Optional[Judged] = None  # verdict of trained models on the claim's row of the ledger


@dataclass
class Experiment:
    """A [[run]] or [[train]] entry of a suite."""

    experiment: str
    title: str = ""
    printed: str = ""  # what the paper prints about this experiment


@dataclass
class Trained:
    """One trained model."""

    experiment: str
    mixer: str
    seed: int
    status: str = "not run"
    accuracy: float = math.nan
    loss: float = math.nan
    chance: float = math.nan
    settings: Params = field(default_factory=dict)
    curve: list[tuple[int, float, float]] = field(default_factory=list)  # (step, loss, accuracy)
    metrics: dict[str, float] = field(default_factory=dict)  # state_bytes; `length`: length of the longest word solved
    file: int = 0


@dataclass
class Statement:
    """A [[statement]] of a suite about trained models, and its result."""

    row: str  # row of the ledger
    experiment: str
    verdict: str
    says: str = ""
    paper: str = ""
    p: float = math.nan
    adjusted: Optional[float] = None  # p adjusted for the number of comparisons in the suite; missing in older files
    rate: float = math.nan
    mean: float = math.nan
    low: float = math.nan
    high: float = math.nan
    seeds: int = 0
    diverged: int = 0
    other_rate: float = math.nan
    other_mean: float = math.nan
    other_low: float = math.nan
    other_high: float = math.nan
    other_seeds: int = 0
    other_diverged: int = 0
    file: int = 0
    title: str = ""  # title of the experiment
    printed: str = ""  # what the paper prints about the experiment
    size: dict[str, float] = field(default_factory=dict)  # size of the models
    paper_size: bool = False  # whether the models have the size that the paper gives


@dataclass
class Judged:
    """The verdict of trained models on a row of the ledger."""

    outcome: str
    counts: Counter[str]  # verdict -> number of statements with it, of those that decide the row
    said: str
    statements: list[Statement]


@dataclass
class BenchRow:
    """A row of /bench: one case, timed by the program or a peer. Fields that an older file lacks are empty."""

    source: str
    name: str
    variant: str
    form: str
    B: int
    H: int
    T: int
    Dk: int
    Dv: int
    real: str
    status: str
    reason: str = ""
    chunk: int = 0
    median_seconds: float = math.nan
    low_seconds: float = math.nan
    high_seconds: float = math.nan
    samples: int = 0
    tokens_per_second: float = math.nan
    bytes: float = math.nan
    bytes_ceiling: float = math.nan
    flops: float = math.nan
    flops_ceiling: float = math.nan
    pass_: str = ""  # forward or backward
    math: str = ""
    schedule: str = ""
    without: str = ""
    file: int = 0
    machine: str = ""  # the machine's name on a page


@dataclass
class DeviceRow:
    """Our time for one case on a device, and the time of the fastest peer."""

    variant: str
    without: str
    shape: tuple[int, ...]  # B, H, T, Dk, Dv
    packing: str  # packed texts and grouped heads, in words
    math: str
    ours: dict[str, str]
    theirs: Optional[dict[str, str]]
    ratio: Optional[float]  # our time divided by the peer's time
    share: Optional[float]  # least possible time divided by our time


@dataclass
class Device:
    """A table of bench/collect.py for one device."""

    name: str  # name of its page
    title: str
    origin: list[str]  # lines about the origin of the rows: device, commands, commits
    passes: dict[str, list[DeviceRow]]
    refused: list[tuple[str, str, int]]  # (peer, reason, number of cases)


@dataclass
class File:
    """One result file."""

    path: str  # as displayed
    meta: dict[str, str] = field(default_factory=dict)
    cases: list[Case] = field(default_factory=list)
    claims: dict[str, Claim] = field(default_factory=dict)
    experiments: dict[str, Experiment] = field(default_factory=dict)
    trainings: list[Trained] = field(default_factory=list)
    statements: list[Statement] = field(default_factory=list)
    bench: list[BenchRow] = field(default_factory=list)


@dataclass
class Results:
    """The contents of all files of a report. command.load() adds the cells and their matrix."""

    files: list[File] = field(default_factory=list)
    devices: list[Device] = field(default_factory=list)
    cases: list[Case] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    experiments: dict[str, Experiment] = field(default_factory=dict)
    trainings: list[Trained] = field(default_factory=list)
    statements: list[Statement] = field(default_factory=list)
    bench: list[BenchRow] = field(default_factory=list)
    cells: list[Cell] = field(default_factory=list)
    matrix_cells: list[Cell] = field(default_factory=list)
    matrix: Optional[Matrix] = None


@dataclass
class Picture:
    """A drawn figure, and its size in CSS pixels."""

    name: str
    width: int
    height: int
    caption: str
    alt: str
    png: bool


Record = TypeVar("Record")


def known(kind: type[Record], row: Row) -> dict[str, Any]:
    """The columns of a row that are fields of the dataclass `kind`."""
    names = {f.name for f in dataclasses.fields(kind)}
    return {name: value for name, value in row.items() if name in names}
