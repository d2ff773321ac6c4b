#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compiler launcher of a coverage build (RECOLLECT_COVERAGE): clang for the files whose coverage is measured, else the build's compiler.
case " $* " in
*' -fcoverage-mapping '*)
  shift
  words=()
  for word in "$@"; do
    case $word in
    -fvect-cost-model=* | -fsplit-loops | -fipa-cp-clone | -ftree-partial-pre) ;; # options that only GCC has
    *) words+=("$word") ;;
    esac
  done
  exec clang++ "${words[@]}"
  ;;
esac
exec "$@"
