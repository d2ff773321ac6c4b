#!/usr/bin/env bash
# Fuzzes the code that reads untrusted files:
#   ci/fuzz.sh [--seconds N] [--seed N]      total time (default 120); seed of the random inputs (default: random)
#
# Half of the time the program itself reads damaged files of tests/fuzz/corpus (tests/files/hostile.py), half of the
# time libFuzzer runs the targets of tests/fuzz. Without clang's libFuzzer the program gets all of the time. libFuzzer
# keeps its corpus in build-fuzz/corpus and failing inputs in build-fuzz/findings. The last line counts the program's
# inputs and the targets: "N passed, M failed". Exit 0 only when none failed.
set -uo pipefail
cd "$(dirname "$0")/.."
source ci/beat.sh
seconds=120 seed=$RANDOM
while (($#)); do
  [[ $1 =~ ^--(seconds|seed)$ && ${2:-} =~ ^[0-9]+$ ]] || { echo "usage: ci/fuzz.sh [--seconds N] [--seed N]" >&2; exit 2; }
  declare "${1#--}=$2"
  shift 2
done
[[ -x build/recollect ]] || { echo "build/recollect is absent: run ci/build.sh first" >&2; exit 3; }
python=$(sed -n 's/^RECOLLECT_PYTHON:FILEPATH=//p' build/CMakeCache.txt)
passed=0 failed=0
beat ci/fuzz.sh

has_libfuzzer() {
  echo 'extern "C" int LLVMFuzzerTestOneInput(const char *, unsigned long) { return 0; }' |
    clang++ -x c++ - -fsanitize=fuzzer -o /dev/null 2>/dev/null
}

targets=()
if has_libfuzzer; then
  Kokkos_ROOT=$(ci/setup.sh) && export Kokkos_ROOT
  if cmake --preset fuzz >/dev/null && cmake --build --preset fuzz; then
    targets=(npy npz safetensors tensors results suite)
  else
    failed=1
  fi
else
  echo "no clang with libFuzzer here: the program alone is fuzzed"
fi

declare -A seeds=([npy]=tensors [safetensors]=safetensors [npz]=tensors [tensors]=tensors [results]=results [suite]=suites)
for target in "${targets[@]}"; do
  mkdir -p "build-fuzz/corpus/$target" build-fuzz/findings
  log=build-fuzz/$target.log
  if "build-fuzz/fuzz_$target" "build-fuzz/corpus/$target" "tests/fuzz/corpus/${seeds[$target]}" -max_len=65536 -timeout=25 \
    -rss_limit_mb=1024 -max_total_time=$((seconds / 2 / ${#targets[@]} + 1)) -print_final_stats=1 -seed="$seed" \
    -artifact_prefix="build-fuzz/findings/$target-" >"$log" 2>&1; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    grep -E 'ERROR|SUMMARY|Test unit' "$log" || tail -n 5 "$log"
  fi
  echo "$target: $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") inputs"
done

count=$("$python" tests/files/hostile.py build/recollect --seconds $((${#targets[@]} ? seconds / 2 : seconds)) --seed "$seed" | tee /dev/stderr | tail -n 1)
if [[ $count =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
  passed=$((passed + BASH_REMATCH[1])) failed=$((failed + BASH_REMATCH[2]))
else
  failed=$((failed + 1))
fi
echo "$passed passed, $failed failed"
((failed == 0))
