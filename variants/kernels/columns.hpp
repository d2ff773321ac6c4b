// SPDX-License-Identifier: Apache-2.0
// Sums down the columns of a matrix.
#pragma once
#include "harness/device/team.hpp"

namespace recollect::variants {

/// f(i, j) for all cells, each column by one thread, down its rows. No barrier.
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

} // namespace recollect::variants
