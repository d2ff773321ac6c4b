#!/usr/bin/env bash
# The gate: builds; runs every variant on every task, the tuned matrix of the report, and the quick suite of claims;
# renders the report and prints its path. Exit 0 only if every claim has its expected verdict and the verdict of
# ci/baseline.h5. For an intended change, run `ci/baseline.py build/gate/verdicts.h5 ci/baseline.h5`.
set -euo pipefail
cd "$(dirname "$0")/.."
ci/build.sh
out=build/gate
mkdir -p "$out"
status=0
# Checks that every layer runs on every task. One seed, untuned: no comparison of layers, so not in the report.
build/recollect run --variants all --tasks all --seeds 1 -o "$out/coverage.h5" >"$out/coverage.log" || status=$?
tail -n 1 "$out/coverage.log"
build/recollect run --suite suites/gate.toml -o "$out/results.h5" >"$out/run.log" || status=$?
tail -n 1 "$out/run.log"
build/recollect verify --suite suites/curves.toml -o "$out/curves.h5" >"$out/curves.log" || status=$? # for curves
tail -n 1 "$out/curves.log"
build/recollect verify --suite quick -o "$out/verdicts.h5" --json "$out/verdicts.json" --junit "$out/verdicts.xml" | tee "$out/verify.log" ||
  status=${PIPESTATUS[0]}
build/recollect diff ci/baseline.h5 "$out/verdicts.h5" --gate || status=$? # a verdict that changed, or a claim that is gone
shopt -s nullglob # for results of training and timing on other machines
build/recollect report "$out/results.h5" "$out/verdicts.h5" "$out/curves.h5" reports/results/*.h5 bench/results/*.csv -o "$out/report" || status=$?
echo "report: $PWD/$out/report/index.html"
exit "$status"
