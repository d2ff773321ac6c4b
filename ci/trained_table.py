# SPDX-License-Identifier: Apache-2.0
"""A row a trained model, with the settings that differ: python3 ci/trained_table.py t.h5 ... > reports/results/t.csv"""
import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "reports", "python"))
import pandas as pd  # noqa: E402
import recollect  # noqa: E402

KEPT = "seed", "status", "accuracy", "loss", "chance"
read = [recollect.load(path) for path in sys.argv[1:]]
commits = sorted({results.meta["git_commit"][:7] for results in read})
rows = pd.concat([results.trained for results in read], ignore_index=True).drop(columns=["run", "seconds"])
rows = rows[rows["status"].notna()]
settings = [c for c in rows.columns if "." in c and c != "train.mixer"]
varying = [c for c in settings if rows[c].nunique() > 1]
rows = rows[["experiment", "mixer", *varying, *KEPT]]
print(f"# commit {', '.join(commits)}")
print(rows.to_csv(index=False, float_format="%.5g").replace("train.", ""), end="")
