#!/usr/bin/env bash
# Builds, then runs every test, one suite per core, or fewer if memory is short. The last line counts test cases: "N
# passed, M failed". Exit 0 only when none failed.
set -euo pipefail
cd "$(dirname "$0")/.."
source ci/beat.sh
ci/build.sh
log=build/test.log
status=0
jobs=$(nproc)
room=$(awk '$1 == "MemAvailable:" { print int($2 / 5242880) }' /proc/meminfo) # a test of bench takes 5 GiB
if ((room < jobs)); then jobs=$((room > 1 ? room : 1)); fi
# "theory: one_write_by_hand, python: test_progress": each running suite, with the test that began or ended last.
at_work() {
  awk '$1 == "Start" { name[$2 + 0] = $3; if ($2 + 0 > most) most = $2 + 0 }
    $2 == "Test" && / sec$/ { delete name[substr($3, 2) + 0] }
    match($0, /Entering test case "[^"]*/) { last[$1 + 0] = substr($0, RSTART + 20, RLENGTH - 20) }
    $2 ~ /^test_/ && / \.\.\. / { last[$1 + 0] = $2 }
    END { for (i = 1; i <= most; ++i) if (i in name) { printf "%s%s%s", comma, name[i], last[i] == "" ? "" : ": " last[i]; comma = ", " } }' "$log"
}
beat ci/test.sh at_work
ctest --test-dir build --verbose --parallel "$jobs" 2>&1 | tee "$log" | grep -vE '^[0-9]+: (Running|Test command|(.*: )?(Entering|Leaving) test |.* is skipped because disabled$|test_\w+ \(.*\.\.\. ok$)' ||
  status=${PIPESTATUS[0]}
end_beat
# Every test program prints a count at its end. A program without a count is one more failure, whatever its exit status.
read -r passed failed < <(awk '
  $1 == "Start" { silent[$2] = 1 }
  /^[0-9]+: [0-9]+ passed, [0-9]+ failed$/ { passed += $2; failed += $4; delete silent[$1] }
  END { for (program in silent) ++failed; print passed + 0, failed + 0 }' "$log")
if ((status != 0 && failed == 0)); then failed=1; fi
if ((passed + failed == 0)); then failed=1; fi
echo "$passed passed, $failed failed"
((failed == 0))
