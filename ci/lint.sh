#!/usr/bin/env bash
# Runs ci/words.py, mypy and flake8 on reports/, cppcheck on harness/ and tasks/, then clang-tidy (.clang-tidy) on the
# given files, by default those of harness/ and tasks/, in JOBS processes (default: all processors). Needs a configured
# build/. False alarms of cppcheck are suppressed by name: tables of references that are not local, structs whose
# pointers a later statement sets, and number types that, like double, are uninitialised by default.
set -euo pipefail
cd "$(dirname "$0")/.."
ci/words.py
mypy reports
flake8 reports tests/python
cppcheck --quiet --error-exitcode=1 --enable=warning,portability --std=c++17 --library=boost -I . -I build \
  --suppress=missingInclude --suppress=unknownMacro --suppress=internalAstError --suppress=returnReference \
  --suppress=uninitvar --suppress=mismatchingContainerExpression \
  --suppress=uninitMemberVar:harness/core/{counted,taped,float16,quad}.hpp harness tasks
files=("$@")
if ((${#files[@]} == 0)); then mapfile -t files < <(git ls-files 'harness/*.cpp' 'tasks/*.cpp'); fi
# clang-tidy reads the compiler's command lines, and does not know GCC's optimisation options and precompiled headers.
lines=$(mktemp -d)
trap 'rm -rf "$lines"' EXIT
sed -E 's/ -include [^ ]*cmake_pch.hxx//g; s/ -f(tree|vect|peel|unswitch|split|ipa|gcse)[a-z-]*(=[a-z]+)?//g' build/compile_commands.json >"$lines/compile_commands.json"
printf '%s\0' "${files[@]}" | xargs -0 -n 1 -P "${JOBS:-$(nproc)}" clang-tidy --quiet --warnings-as-errors='*' -p "$lines"
