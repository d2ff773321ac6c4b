#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Measures which lines and branches of harness/core, harness/files and harness/check the tests run.
#
#   ci/coverage.sh            # builds build-coverage, runs the tests of harness/ and tests/files, prints the figures
#   ci/coverage.sh --print    # only the figures of what has run since the build, with each outcome that no test had
#   ci/coverage.sh --csv      # the same as the rows of docs/data/coverage.csv
#
# Needs clang and llvm (llvm-cov); clang compiles the files that are counted. BUILD names another build folder.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${BUILD:-build-coverage}
case ${1:-} in
--print) exec ci/coverage_figures.py "$build" ;;
--csv) exec ci/coverage_figures.py "$build" --csv ;;
esac
cmake -S . -B "$build" -G Ninja -DRECOLLECT_COVERAGE=ON
cmake --build "$build" --target tests
rm -rf "$build/profiles"
status=0
# In this build the reader of files is not confined, and needs more memory to start.
"$build/tests" --run_test=harness --run_test='!harness/confine' --run_test='!harness/start' || status=1
python=$(sed -n 's/^RECOLLECT_PYTHON:[A-Z]*=//p' "$build/CMakeCache.txt")
(cd tests/files && RECOLLECT_PROGRAM=$OLDPWD/$build/recollect "$python" -m unittest discover) || status=1
ci/coverage_figures.py "$build"
exit "$status"
