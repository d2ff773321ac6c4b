#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Measures which lines and branches of harness/core, harness/files and harness/check the tests run.
#
#   ci/coverage.sh            # builds build-coverage, runs tests of harness/ and tests/files, prints the figures
#   ci/coverage.sh --print    # only the figures of what has run since the build, with each outcome that no test had
#   ci/coverage.sh --csv      # the same as the rows of docs/data/coverage.csv
#
# Needs clang and llvm (llvm-cov); clang compiles the measured files. BUILD names another build folder.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${BUILD:-build-coverage}
case ${1:-} in
--print) exec ci/coverage_figures.py "$build" ;;
--csv) exec ci/coverage_figures.py "$build" --csv ;;
esac
Kokkos_ROOT=$(ci/setup.sh)
export Kokkos_ROOT
cmake -S . -B "$build" -G Ninja -DRECOLLECT_COVERAGE=ON
cmake --build "$build" --target tests
build=$(realpath "$build")
rm -rf "$build/profiles"
status=0
# Left out: tests of the confined file reader and of the memory at the start, which differ in this build, and slow
# tests, which run layers (except those of plants).
"$build/tests" --run_test=harness --run_test='!@slow' --run_test='!harness/confine' --run_test='!harness/start' || status=1
"$build/tests" --run_test=harness/plants --run_test=harness/plant_tables || status=1
python=$(sed -n 's/^RECOLLECT_PYTHON:[A-Z]*=//p' "$build/CMakeCache.txt")
cd tests/files
for file in test_*.py; do
  case $file in
  # These take a minute or more each, and mainly run other code.
  test_debian_package.py | test_install.py | test_peers.py | test_readme.py | test_terminal.py | test_train_torch.py) ;;
  *) RECOLLECT_PROGRAM=$build/recollect "$python" -m unittest "${file%.py}" || status=1 ;;
  esac
done
cd ../..
ci/coverage_figures.py "$build"
exit "$status"
