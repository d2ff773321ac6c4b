# SPDX-License-Identifier: Apache-2.0
"""Reads result files of recollect as tidy pandas frames.

    import recollect
    r = recollect.load("r.h5")
    r.runs      # one row per case and metric: parameters as columns, "task.n", "softmax.scale"
    r.claims    # one row per claim
    r.points    # one row per point or rival, its parameters as columns
    r.bench     # one row per timed case
    r.trained   # one row per trained model: settings as columns, "train.steps", "vla.lambda0"
    r.curves    # one row per point of a training curve
    r.meta      # version, commit, seed, ... as a dictionary

    # which statements of a paper were refuted, and what holds in their place
    r.claims.query("verdict == 'refuted' and source.str.startswith('004')")[["claim", "source", "exact"]]

    both = recollect.load("a.h5", "b.h5")   # every frame with a column "file", to compare machines or commits
    both.files                              # one row per file: version, commit, device, ...
"""
from __future__ import annotations

from dataclasses import dataclass, field, fields
from os import PathLike, fspath

import pandas as pd

from recollect.schema import ResultFile, opened

__all__ = ["Results", "load"]


@dataclass(repr=False)
class Results:
    """Contents of result files. A frame is empty if no file has rows for it."""

    runs: pd.DataFrame = field(default_factory=pd.DataFrame)
    series: pd.DataFrame = field(default_factory=pd.DataFrame)
    samples: pd.DataFrame = field(default_factory=pd.DataFrame)
    claims: pd.DataFrame = field(default_factory=pd.DataFrame)
    points: pd.DataFrame = field(default_factory=pd.DataFrame)
    bench: pd.DataFrame = field(default_factory=pd.DataFrame)
    trained: pd.DataFrame = field(default_factory=pd.DataFrame)
    curves: pd.DataFrame = field(default_factory=pd.DataFrame)
    files: pd.DataFrame = field(default_factory=pd.DataFrame)
    meta: dict[str, str] = field(default_factory=dict)  # of the first file

    def __repr__(self) -> str:
        """One line per frame that is not empty: its number of rows, and the names of its first columns."""
        lines = [f"recollect results of {', '.join(self.files['file'])}" if len(self.files) else "no recollect results"]
        for name in (f.name for f in fields(self) if f.name not in ("files", "meta")):
            frame = getattr(self, name)
            if len(frame):
                more = ", ..." if len(frame.columns) > 6 else ""
                lines.append(f"  .{name:8}{len(frame):>7} rows: {', '.join(frame.columns[:6])}{more}")
        return "\n".join(lines)


def _table(file: ResultFile, name: str) -> pd.DataFrame:
    """A table as a frame; empty if the file has no such table."""
    return pd.DataFrame(file.columns(name))


def _wide(parameters: pd.DataFrame, index: list[str], names: pd.Series) -> pd.DataFrame:
    """Turns rows of parameters (`index`, name, value) into one column per name. A column has numbers if all its values
    are numbers, else texts; NaN stands for a parameter that is not given."""
    if parameters.empty:
        return pd.DataFrame()
    texts = parameters["text"] if "text" in parameters else pd.Series("", index=parameters.index)
    value = parameters["value"].astype(object).where(texts == "", texts)
    long = parameters[index].assign(name=names, value=value).drop_duplicates([*index, "name"], keep="last")
    wide = long.pivot(index=index, columns="name", values="value")
    wide.columns.name = None
    for column in wide.columns:
        numbers = pd.to_numeric(wide[column], errors="coerce")
        texts_in = wide[column].map(lambda x: isinstance(x, str)).any()
        if not texts_in and numbers.notna().sum() == wide[column].map(pd.notna).sum():
            wide[column] = numbers
    return wide


def _names(owned: pd.DataFrame, plan: pd.DataFrame) -> pd.Series:
    """The column name of each parameter: "task.n" for a parameter of the task, "softmax.scale" for one of a layer."""
    task = owned["case"].map(plan.set_index("case")["task"])
    return owned["owner"].where(owned["owner"] != task, "task") + "." + owned["name"]


def _runs(file: ResultFile) -> pd.DataFrame:
    plan = _table(file, "plan")
    if plan.empty:
        return plan
    frame = plan.set_index("case").join(_table(file, "records").set_index("case"))
    owned = _table(file, "parameters")
    choices = _table(file, "choices")  # values that --tune chose, which override planned values
    if not choices.empty:
        owned = pd.concat([owned, choices.assign(text="")], ignore_index=True)
    if not owned.empty:
        frame = frame.join(_wide(owned, ["case"], _names(owned, plan)))
    metrics = _table(file, "metrics")
    return frame.join(metrics.set_index("case"), how="left").reset_index()


def _series(file: ResultFile) -> pd.DataFrame:
    parts = [pd.DataFrame(table).assign(series=name) for name, table in file.series().items()]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()


def _claims(file: ResultFile) -> pd.DataFrame:
    claims = _table(file, "claim_texts")
    if not claims.empty and "passed" in claims:
        claims["passed"] = claims["passed"].astype(bool)
        for lists in {"covers", "variants"} & set(claims.columns):
            claims[lists] = claims[lists].str.split()
    return claims


def _points(file: ResultFile) -> pd.DataFrame:
    points, parameters = _table(file, "claims"), _table(file, "claim_parameters")
    if points.empty:
        return points
    key = ["finding", "point"] if "finding" in points else ["claim", "point"]
    points = points.drop(columns="parameters", errors="ignore")
    wide = _wide(parameters, key, "at." + parameters["name"]) if not parameters.empty else pd.DataFrame()
    return points.join(wide, on=key) if not wide.empty else points


def _trained(file: ResultFile) -> pd.DataFrame:
    plan = _table(file, "training_plan")
    if plan.empty:
        return plan
    frame = plan.set_index("run").join(_table(file, "trained").set_index("run"))
    metrics = _table(file, "trained_metrics")
    if not metrics.empty:
        frame = frame.join(metrics.pivot(index="run", columns="metric", values="value"))
    owned = _table(file, "training_parameters")
    return frame.join(_wide(owned, ["run"], owned["owner"] + "." + owned["name"])).reset_index()


def _load_one(path: str) -> Results:
    with opened(path) as file:
        samples, bench, curves = (_table(file, name) for name in ("samples", "bench", "training_curves"))
        return Results(
            runs=_runs(file),
            series=_series(file),
            samples=samples,
            claims=_claims(file),
            points=_points(file),
            bench=bench,
            trained=_trained(file),
            curves=curves,
            files=pd.DataFrame([{"file": path, **file.meta}]),
            meta=file.meta,
        )


def load(path: str | PathLike[str], *more: str | PathLike[str]) -> Results:
    """Every table of files that `recollect run`, `verify`, `bench` or `train` wrote. Rows of several files are
    concatenated, with a column "file". ValueError for any other file."""
    paths = [fspath(one) for one in (path, *more)]
    parts = [_load_one(one) for one in paths]
    if len(parts) == 1:
        return parts[0]
    found = Results(meta=parts[0].meta, files=pd.concat([one.files for one in parts], ignore_index=True))
    for name in (f.name for f in fields(Results) if f.name not in ("files", "meta")):
        frames = {at: getattr(one, name) for at, one in zip(paths, parts) if len(getattr(one, name))}
        if frames:
            joined = pd.concat(frames, names=["file", None])
            setattr(found, name, joined.reset_index(level="file").reset_index(drop=True))
    return found
