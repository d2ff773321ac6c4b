#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ci/baseline.py VERDICTS.h5 OUT.h5: copies the verdicts that a gate compares into a file that is small enough to commit.

The output has the verdict of each claim, without texts and points. Its format is schema_version 3, which has no digest."""
import sys

import h5py
import numpy as np

KEPT = {"claim_plan": ("finding", "claim", "effort", "seed", "point"), "claim_texts": ("finding", "claim", "verdict", "expected", "passed")}


def main(source, target):
    with h5py.File(source, "r") as old, h5py.File(target, "w") as new:
        new.attrs["schema"], new.attrs["schema_version"] = np.bytes_("recollect results"), np.int32(3)
        meta = new.create_group("meta")
        for name in ("version", "git_commit", "git_dirty", "seed"):
            value = old["meta"].attrs[name]
            meta.attrs[name] = value if isinstance(value, bytes) else np.bytes_(str(value))
        for name, columns in KEPT.items():
            rows = old[name][()]
            parts = {}
            for column in columns:
                values = rows[column]
                parts[column] = np.array([v if isinstance(v, bytes) else str(v).encode() for v in values]) if values.dtype.kind in "OS" else values
            table = np.empty(len(rows), dtype=[(c, "S1" if v.dtype.itemsize == 0 else v.dtype) for c, v in parts.items()])
            for column, values in parts.items():
                table[column] = values
            new.create_dataset(name, data=table, compression="gzip", compression_opts=9)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: ci/baseline.py VERDICTS.h5 OUT.h5")
    main(*sys.argv[1:])
