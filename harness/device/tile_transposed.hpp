// SPDX-License-Identifier: Apache-2.0
// tile.hpp's operations with the transpose of a lower triangle, which backward passes need.
#pragma once
#include "harness/device/tile.hpp"

namespace recollect::tile {

/// out(n-1-i, n-1-j) = L(j, i): lower triangular where L is, and its solves are those with L^T, taken last to first.
template <class Real>
KOKKOS_FUNCTION void flip(const Team &team, int n, const Real *L, std::ptrdiff_t ldl, Real *out, std::ptrdiff_t ldo) {
  each_cell(team, n, n, [=](int i, int j) { out[i * ldo + j] = L[(n - 1 - j) * ldl + n - 1 - i]; });
}

/// X[n,columns] = (I + L)^{-T} X, given L flipped. Barriers inside.
template <class Real>
KOKKOS_FUNCTION void solve_flipped(const Team &team, int n, int columns, const Real *flipped, std::ptrdiff_t ldf,
                                   Real *X, std::ptrdiff_t ldx) {
  solve_unit_lower(team, n, columns, flipped, ldf, X + (n - 1) * ldx, -ldx);
}

} // namespace recollect::tile
