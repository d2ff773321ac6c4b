# SPDX-License-Identifier: Apache-2.0
"""Result files of recollect as tidy pandas frames.

    import recollect
    r = recollect.load("r.h5")
    r.runs      # one row per case and metric: parameters as columns, "task.n", "softmax.scale"
    r.claims    # one row per claim
    r.points    # one row per point or rival, its parameters as columns
    r.bench     # one row a timed case
    r.trained   # one row a trained model: settings as columns, "train.steps", "vla.lambda0"
    r.curves    # one row a point of a training's curve
    r.meta      # version, commit, seed, ... as a dictionary
"""
from __future__ import annotations

from dataclasses import dataclass, field
from os import PathLike, fspath
from typing import Dict

import h5py
import pandas as pd

__all__ = ["Results", "load"]


@dataclass
class Results:
    """What one file holds; a frame is empty where the file has none of it."""

    runs: pd.DataFrame = field(default_factory=pd.DataFrame)
    series: pd.DataFrame = field(default_factory=pd.DataFrame)
    samples: pd.DataFrame = field(default_factory=pd.DataFrame)
    claims: pd.DataFrame = field(default_factory=pd.DataFrame)
    points: pd.DataFrame = field(default_factory=pd.DataFrame)
    bench: pd.DataFrame = field(default_factory=pd.DataFrame)
    trained: pd.DataFrame = field(default_factory=pd.DataFrame)
    curves: pd.DataFrame = field(default_factory=pd.DataFrame)
    meta: Dict[str, str] = field(default_factory=dict)


def _table(file: h5py.File, name: str) -> pd.DataFrame:
    """A compound dataset as a frame, its texts decoded; an empty frame where there is none."""
    if name not in file:
        return pd.DataFrame()
    rows = file[name][()]
    columns = {}
    for column in rows.dtype.names:
        values = rows[column]
        if values.dtype.kind in "SO":
            values = [v.decode("utf-8", "replace").rstrip("\0") if isinstance(v, bytes) else v for v in values.tolist()]
        columns[column] = values
    return pd.DataFrame(columns)


def _wide(parameters: pd.DataFrame, index: list[str], names: pd.Series) -> pd.DataFrame:
    """Long parameters as one column a name: numbers where all values are numbers, else texts; NaN where not given."""
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


def _runs(file: h5py.File) -> pd.DataFrame:
    plan = _table(file, "plan")
    if plan.empty:
        return plan
    frame = plan.set_index("case").join(_table(file, "records").set_index("case"))
    owned = _table(file, "parameters")
    choices = _table(file, "choices")  # what --tune chose, over what was planned
    if not choices.empty:
        owned = pd.concat([owned, choices.assign(text="")], ignore_index=True)
    task = owned["case"].map(plan.set_index("case")["task"])
    names = owned["name"].where(owned["owner"] != task, "task." + owned["name"])
    names = names.where(owned["owner"] == task, owned["owner"] + "." + owned["name"])
    frame = frame.join(_wide(owned, ["case"], names))
    metrics = _table(file, "metrics")
    return frame.join(metrics.set_index("case"), how="left").reset_index()


def _series(file: h5py.File) -> pd.DataFrame:
    if "series" not in file:
        return pd.DataFrame()
    parts = [_table(file["series"], name).assign(series=name) for name in file["series"]]
    return pd.concat(parts, ignore_index=True)


def _points(file: h5py.File) -> pd.DataFrame:
    points, parameters = _table(file, "claims"), _table(file, "claim_parameters")
    if points.empty:
        return points
    key = ["finding", "point"] if "finding" in points else ["claim", "point"]
    points = points.drop(columns="parameters", errors="ignore")
    wide = _wide(parameters, key, "at." + parameters["name"]) if not parameters.empty else pd.DataFrame()
    return points.join(wide, on=key) if not wide.empty else points


def _trained(file: h5py.File) -> pd.DataFrame:
    plan = _table(file, "training_plan")
    if plan.empty:
        return plan
    frame = plan.set_index("run").join(_table(file, "trained").set_index("run"))
    owned = _table(file, "training_parameters")
    return frame.join(_wide(owned, ["run"], owned["owner"] + "." + owned["name"])).reset_index()


def load(path: str | PathLike[str]) -> Results:
    """Every table of a file written by `recollect run`, `verify`, `bench` or `train`. ValueError for any other file."""
    with h5py.File(fspath(path), "r") as file:
        schema = file.attrs.get("schema", b"")
        if (schema.decode() if isinstance(schema, bytes) else str(schema)) != "recollect results":
            raise ValueError(f"{fspath(path)} holds no results of recollect")
        said = file["meta"].attrs.items()
        meta = {k: v.decode("utf-8", "replace") if isinstance(v, bytes) else str(v) for k, v in said}
        claims = _table(file, "claim_texts")
        if not claims.empty and "passed" in claims:
            claims["passed"] = claims["passed"].astype(bool)
            for lists in {"covers", "variants"} & set(claims.columns):
                claims[lists] = claims[lists].str.split()
        samples, bench, curves = (_table(file, name) for name in ("samples", "bench", "training_curves"))
        return Results(_runs(file), _series(file), samples, claims, _points(file), bench, _trained(file), curves, meta)
