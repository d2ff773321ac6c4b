// SPDX-License-Identifier: Apache-2.0
// tile.hpp's operations as plain loops over a team's threads: for GPUs without a specialisation of their own.
#pragma once
#include "harness/device/matrix.hpp"
#include "harness/device/team.hpp"

#if defined(__CUDACC__) || defined(__HIPCC__)
#define RECOLLECT_UNROLL _Pragma("unroll")
#else
#define RECOLLECT_UNROLL
#endif

namespace recollect::tile::portable {

/// sum[r][c] += A(i0 + r, p) B(p, j0 + c), summed over p.
template <int R, int W, class Real>
KOKKOS_FUNCTION void accumulate(const Product<Real> &x, int i0, int height, int j0, int width, Real (&sum)[R][W]) {
  const int k = x.given.end(i0 + height - 1, x.k);
  for (int p = 0; p < k; ++p)
    for (int r = 0; r < R; ++r) {
      const Real a = r < height ? x.A(i0 + r, p) : Real(0);
      for (int c = 0; c < W; ++c) sum[r][c] += a * (c < width ? x.B(p, j0 + c) : Real(0));
    }
}

/// Every thread computes blocks of 4 x 4 results in registers.
template <class Real>
KOKKOS_FUNCTION void gemm(const Team &team, int m, int n, Real alpha, const Product<Real> &first,
                          const Product<Real> &second, Real beta, Real *C, std::ptrdiff_t ldc) {
  constexpr int R = 4, W = 4;
  const int across = (n + W - 1) / W;
  each(team, (m + R - 1) / R * across, [=](int block) {
    const int i0 = block / across * R, j0 = block % across * W;
    const int height = m - i0 < R ? m - i0 : R, width = n - j0 < W ? n - j0 : W;
    if (first.wanted.end(i0 + height - 1, n) <= j0) return;
    Real sum[R][W] = {};
    accumulate(first, i0, height, j0, width, sum);
    accumulate(second, i0, height, j0, width, sum);
    for (int r = 0; r < height; ++r)
      for (int c = 0; c < width; ++c) {
        Real &out = C[(i0 + r) * ldc + j0 + c];
        out = beta == 0 ? alpha * sum[r][c] : beta * out + alpha * sum[r][c];
      }
  });
}

constexpr int solve_block = 16;

/// X[n,columns] = (I + L)^{-1} X for n <= solve_block, one thread a column.
template <class Real>
KOKKOS_FUNCTION void substitute(const Team &team, int n, int columns, const Real *L, std::ptrdiff_t ldl, Real *X,
                                std::ptrdiff_t ldx) {
  each(team, columns, [=](int c) {
    Real x[solve_block];
    RECOLLECT_UNROLL
    for (int i = 0; i < solve_block; ++i) {
      if (i >= n) continue;
      x[i] = X[i * ldx + c];
      RECOLLECT_UNROLL
      for (int p = 0; p < i; ++p) x[i] -= L[i * ldl + p] * x[p];
      X[i * ldx + c] = x[i];
    }
  });
}

} // namespace recollect::tile::portable
