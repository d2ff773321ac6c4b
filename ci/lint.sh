#!/usr/bin/env bash
# cppcheck over harness/ and tasks/, then clang-tidy (.clang-tidy) over the files given, or those of harness/. Needs a
# configured build/. What cppcheck cannot follow is suppressed by name: tables of references that are not local, and
# structs whose pointers a later statement sets. Two types of numbers are left without a value, as a double is.
set -euo pipefail
cd "$(dirname "$0")/.."
cppcheck --quiet --error-exitcode=1 --enable=warning,portability --std=c++17 --library=boost -I . -I build \
  --suppress=missingInclude --suppress=unknownMacro --suppress=internalAstError --suppress=returnReference \
  --suppress=uninitvar --suppress=mismatchingContainerExpression \
  --suppress=uninitMemberVar:harness/core/counted.hpp --suppress=uninitMemberVar:harness/core/taped.hpp harness tasks
files=("$@")
if ((${#files[@]} == 0)); then mapfile -t files < <(git ls-files 'harness/*.cpp'); fi
# clang-tidy reads the compiler's command lines, and knows none of the optimisations that are GCC's own.
lines=$(mktemp -d)
trap 'rm -rf "$lines"' EXIT
sed -E 's/ -f(tree|vect|peel|unswitch|split|ipa|gcse)[a-z-]*(=[a-z]+)?//g' build/compile_commands.json >"$lines/compile_commands.json"
clang-tidy --quiet --warnings-as-errors='*' -p "$lines" "${files[@]}"
