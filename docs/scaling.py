# SPDX-License-Identifier: Apache-2.0
"""The tables of docs/distributed.md on GPUs, from docs/data/ranks-gpu.csv: measurements, and predictions of a model
fitted to them."""

from __future__ import annotations

from collections.abc import Iterator

Row = dict[str, str]
PREDICTED = (8, 64, 1000)


def times(data: list[Row]) -> dict[tuple[str, str, int], dict[int, float]]:
    """(layer, D, T): milliseconds by the number of ranks."""
    found: dict[tuple[str, str, int], dict[int, float]] = {}
    for row in data:
        found.setdefault((row["layer"], row["D"], int(row["T"])), {})[int(row["ranks"])] = float(row["milliseconds"])
    return found


def milliseconds(x: float) -> str:
    return f"{x:.1f}" if x < 1000 else f"{x:.0f}"


def strong(data: list[Row]) -> tuple[list[str], list[list[str]]]:
    """The same sequence on 1, 2 and 4 ranks, and the time for the exchange of maps alone. Cells that were not measured are
    empty."""
    rows = []
    for (layer, D, T), at in times(data).items():
        if not {1, 2} & set(at) or 4 not in at:
            continue
        case = (layer, D, str(T), "4")
        exchange = next(row["exchange"] for row in data if (row["layer"], row["D"], row["T"], row["ranks"]) == case)
        cells = [milliseconds(at[ranks]) if ranks in at else "" for ranks in (1, 2, 4)]
        gains = [f"{at[few] / at[many]:.2f}" if {few, many} <= set(at) else "" for few, many in ((1, 2), (1, 4), (2, 4))]
        rows.append([f"`{layer}`", D, f"{T:,}", *cells, *gains, exchange])
    columns = ["layer", "D", "T", "1 rank, ms", "2 ranks, ms", "4 ranks, ms"]
    return [*columns, "1 to 2", "1 to 4", "2 to 4", "exchange alone, ms"], rows


def longer(data: list[Row]) -> tuple[list[str], list[list[str]]]:
    """Sequences that are longer than the shortest one of the same layer and width."""
    first: dict[tuple[str, str], int] = {}
    for row in data:
        first.setdefault((row["layer"], row["D"]), int(row["T"]))
    rows = [[f"`{row['layer']}`", row["D"], f"{int(row['T']):,}", row["ranks"], milliseconds(float(row["milliseconds"])),
             row["million steps per second"], row["GiB per GPU"]]
            for row in data if int(row["T"]) > first[row["layer"], row["D"]]]  # fmt: skip
    return ["layer", "D", "T", "ranks", "ms", "million steps per second", "GiB per GPU"], rows


def fitted(data: list[Row]) -> Iterator[tuple[tuple[str, str, int], float, float]]:
    """Fits t(R) = w / R + e for R >= 2 from the times of two and four ranks: (layer, D, T), w and e in milliseconds."""
    for key, at in times(data).items():
        if {2, 4} <= set(at):
            w = 4 * (at[2] - at[4])
            yield key, w, at[4] - w / 4


def predicted(data: list[Row]) -> tuple[list[str], list[list[str]]]:
    rows = [[f"`{layer}`", D, f"{T:,}", milliseconds(w), milliseconds(e), *(milliseconds(w / ranks + e) for ranks in PREDICTED)]
            for (layer, D, T), w, e in fitted(data)]  # fmt: skip
    return ["layer", "D", "T", "w, ms", "e, ms", *(f"{ranks:,} ranks, ms" for ranks in PREDICTED)], rows
