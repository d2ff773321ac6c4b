// SPDX-License-Identifier: Apache-2.0
// Sums down the columns of a matrix.
#pragma once
#include "harness/device/team.hpp"
#include <type_traits>

namespace recollect::variants {

/// Calls f(i, j) for all cells. Each thread takes one column and goes down its rows. No barrier.
template <class F> KOKKOS_FUNCTION void down_columns(const Team &team, int rows, int columns, const F &f) {
  if constexpr (on_host) {
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < columns; ++j) f(i, j);
  } else {
    each(team, columns, [=](int j) {
      for (int i = 0; i < rows; ++i) f(i, j);
    });
  }
}

/// sums[s][j] = sum over rows i of terms(i, j)[s]; a null sums[s] is skipped. No barrier. A CPU processes a few columns
/// at a time, with their sums in registers.
template <class Real, size_t N, class Terms>
KOKKOS_FUNCTION void column_sums(const Team &team, int rows, int columns, const Kokkos::Array<Real *, N> &sums,
                                 const Terms &terms) {
  constexpr int lanes = on_host ? 64 / sizeof(Real) : 1;
  each(team, (columns - 1) / lanes + 1, [=](int bundle) {
    const int first = bundle * lanes;
    const auto add = [=](auto count) {
      Real sum[N][lanes] = {};
      for (int i = 0; i < rows; ++i)
        for (int c = 0; c < count; ++c) {
          const Kokkos::Array<Real, N> term = terms(i, first + c);
          for (size_t s = 0; s < N; ++s) sum[s][c] += term[s];
        }
      for (size_t s = 0; s < N; ++s)
        if (sums[s])
          for (int c = 0; c < count; ++c) sums[s][first + c] = sum[s][c];
    };
    if (columns - first >= lanes)
      add(std::integral_constant<int, lanes>());
    else
      add(columns - first);
  });
}

} // namespace recollect::variants
