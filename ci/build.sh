#!/usr/bin/env bash
# Sets the machine up and builds everything into build/. Used by test.sh and verify.sh.
set -euo pipefail
cd "$(dirname "$0")/.."
Kokkos_ROOT=$(ci/setup.sh)
export Kokkos_ROOT
cmake --preset openmp
cmake --build --preset openmp
