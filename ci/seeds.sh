#!/usr/bin/env bash
# How often does a claim fail by chance, or a rival pass? Runs the quick suite with many seeds, one thread per run:
#   ci/seeds.sh FIRST LAST [CLAIM-or-glob ...]
# Prints every claim that failed with its seed; the last line counts runs: "N passed, M failed". Exit 0 only when none failed.
set -uo pipefail
cd "$(dirname "$0")/.."
[[ ${1:-} =~ ^[0-9]+$ && ${2:-} =~ ^[0-9]+$ ]] && (($1 <= $2)) || { echo "usage: ci/seeds.sh FIRST LAST [CLAIM-or-glob ...]" >&2; exit 2; }
[[ -x build/recollect ]] || { echo "build/recollect is absent: run ci/build.sh first" >&2; exit 3; }
first=$1 last=$2
shift 2
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
one() {
  local seed=$1 said status=0
  shift
  said=$(build/recollect verify "$@" --seed "$seed" 2>&1) || status=$?
  grep -E 'FAILED|inconclusive|recollect:' <<<"$said" | sed "s/^/seed $seed: /"
  echo "status $status"
}
export -f one
log=$(mktemp)
source ci/beat.sh
runs() { echo "$(grep -c '^status ' "$log") of $((last - first + 1)) runs"; }
beat ci/seeds.sh runs
trap 'end_beat; rm -f "$log"' EXIT
seq "$first" "$last" | xargs -P "$(env -u OMP_NUM_THREADS nproc)" -I{} bash -c 'one "$@"' _ {} "$@" | tee "$log" | grep -v '^status '
passed=$(grep -c '^status 0$' "$log")
failed=$((last - first + 1 - passed))
echo "$passed passed, $failed failed"
((failed == 0))
