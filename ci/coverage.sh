#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Measures which lines and branches of harness/core, harness/files and harness/check the tests run.
#
#   ci/coverage.sh            # builds build-coverage, runs the tests of harness/ and tests/files, prints the figures
#   ci/coverage.sh --print    # only the figures of what has run since the build, with the lines whose branches were not all taken
#   ci/coverage.sh --csv      # the same as the rows of docs/data/coverage.csv
#
# Needs gcovr (Debian: gcovr). Branches that only an exception takes are left out; so are headers, of which the linker may keep the
# copy of a file that is not counted. BUILD names another build folder.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${BUILD:-build-coverage}
counted=(gcovr --root . --object-directory "$build" --exclude-throw-branches --filter 'harness/(core|files|check)/.*\.cpp'
  --exclude 'harness/check/mistakes/' "$build")
case ${1:-} in
--print) exec "${counted[@]}" --branches --print-summary ;;
--csv)
  "${counted[@]}" --csv | awk -F, '
    function row(name, lines, run, branches, taken) {
      printf "%s,%d of %d,%d of %d,%.0f%%\n", name, run, lines, taken, branches, 100 * taken / branches
    }
    NR > 1 && $5 > 0 {
      split($1, path, "/"); room = path[1] "/" path[2]
      lines[room] += $2; run[room] += $3; branches[room] += $5; taken[room] += $6
      files[++n] = $0
    }
    END {
      print "file,lines run,branches taken,share of branches"
      for (room in lines) {
        row("all of " room, lines[room], run[room], branches[room], taken[room])
        a += lines[room]; b += run[room]; c += branches[room]; d += taken[room]
      }
      row("all", a, b, c, d)
      for (i = 1; i <= n; i++) { split(files[i], f, ","); row(f[1], f[2], f[3], f[5], f[6]) }
    }'
  exit
  ;;
esac
cmake -S . -B "$build" -G Ninja -DRECOLLECT_COVERAGE=ON
cmake --build "$build" --target tests
find "$build" -name '*.gcda' -delete
status=0
"$build/tests" --run_test=harness || status=1
python=$(sed -n 's/^RECOLLECT_PYTHON:[A-Z]*=//p' "$build/CMakeCache.txt")
(cd tests/files && RECOLLECT_PROGRAM=$OLDPWD/$build/recollect "$python" -m unittest discover) || status=1
"${counted[@]}" --branches --print-summary
exit "$status"
