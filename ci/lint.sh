#!/usr/bin/env bash
# cppcheck over harness/ and tasks/, then clang-tidy (.clang-tidy) over the files given, or those of harness/. Needs a
# configured build/. What cppcheck cannot follow is suppressed by name: tables of references that are not local, and
# structs whose pointers a later statement sets.
set -euo pipefail
cd "$(dirname "$0")/.."
cppcheck --quiet --error-exitcode=1 --enable=warning,portability --std=c++17 --library=boost -I . -I build \
  --suppress=missingInclude --suppress=unknownMacro --suppress=internalAstError --suppress=returnReference \
  --suppress=uninitvar --suppress=mismatchingContainerExpression harness tasks
files=("$@")
if ((${#files[@]} == 0)); then mapfile -t files < <(git ls-files 'harness/*.cpp'); fi
clang-tidy --quiet -p build "${files[@]}"
