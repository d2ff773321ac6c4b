#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Launches the compiler of a build that counts (RECOLLECT_COVERAGE): clang for the files that are counted, else the build's own.
case " $* " in
*' -fcoverage-mapping '*)
  shift
  words=()
  for word in "$@"; do
    case $word in
    -fvect-cost-model=* | -fsplit-loops | -fipa-cp-clone | -ftree-partial-pre) ;; # GCC's
    *) words+=("$word") ;;
    esac
  done
  exec clang++ "${words[@]}"
  ;;
esac
exec "$@"
