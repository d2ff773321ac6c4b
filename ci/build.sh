#!/usr/bin/env bash
# Sets the machine up and builds everything into build/. Used by test.sh and verify.sh. With WERROR=ON in the
# environment, as in .ci/run, a warning is an error.
set -euo pipefail
cd "$(dirname "$0")/.."
source ci/beat.sh
Kokkos_ROOT=$(ci/setup.sh)
export Kokkos_ROOT
[[ -t 1 ]] || beat ci/build.sh # on a terminal the build shows its progress
cmake --preset openmp -DWERROR="${WERROR:-OFF}"
cmake --build --preset openmp
