// SPDX-License-Identifier: Apache-2.0
// The operations of tile.hpp as plain loops over a team's threads, for GPUs that have no implementation of their own.
#pragma once
#include "harness/device/matrix.hpp"
#include "harness/device/team.hpp"

namespace recollect::tile::portable {

/// sum[r][c] += sum over p of A(i0 + r, p) B(p, j0 + c).
template <int R, int W, class Real>
KOKKOS_FUNCTION void accumulate(const Product<Real> &x, int i0, int height, int j0, int width, Real (&sum)[R][W]) {
  const int k = x.given.end(i0 + height - 1, x.k);
  for (int p = 0; p < k; ++p)
    for (int r = 0; r < R; ++r) {
      if (r >= height || p >= x.given.end(i0 + r, x.k)) continue; // skips 0 times infinity
      const Real a = x.A(i0 + r, p);
      for (int c = 0; c < W; ++c) sum[r][c] += a * (c < width ? x.B(p, j0 + c) : Real(0));
    }
}

/// A thread computes blocks of 4 x 4 results in registers.
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

/// X[n,columns] = (I + L)^{-1} X for n <= solve_block, one thread per column.
template <class Real>
RECOLLECT_IN_LINE void substitute(const Team &team, int n, int columns, const Real *L, std::ptrdiff_t ldl, Real *X,
                                  std::ptrdiff_t ldx) {
  each(team, columns, [=](int c) {
    if (n < solve_block) {
      for (int i = 1; i < n; ++i)
        for (int p = 0; p < i; ++p) X[i * ldx + c] -= L[i * ldl + p] * X[p * ldx + c];
      return;
    }
    Real x[solve_block]; // so that all loads come before the first store
    RECOLLECT_UNROLL
    for (int i = 0; i < solve_block; ++i) x[i] = X[i * ldx + c];
    RECOLLECT_UNROLL
    for (int i = 1; i < solve_block; ++i) {
      RECOLLECT_UNROLL
      for (int p = 0; p < i; ++p) x[i] -= L[i * ldl + p] * x[p];
    }
    RECOLLECT_UNROLL
    for (int i = 1; i < solve_block; ++i) X[i * ldx + c] = x[i];
  });
}

constexpr int prefix_rows = 8; // number of segments of steps: one for each 32 threads of a team of 256

KOKKOS_FUNCTION inline size_t prefix_work(int F) { return prefix_rows * (size_t(F) * (F + 1) + 3 * F); }

/// x = M^{-1} x for a symmetric M, given as a packed lower triangle, by the threads that share a row (each_row);
/// `line` [F] and `inverse` [F] are scratch. With M = L D L^T, replaces M by G = L D, column by column. Each thread
/// computes the elements G_ij = M_ij - sum_c G_ic L_jc of its rows i. Row i starts at i (i + 1) / 2. These numbers take
/// every value modulo a power of two, so 32 adjacent rows start in 32 banks.
template <class Real>
KOKKOS_FUNCTION void solve_packed(int F, Real *M, Real *x, Real *line, Real *inverse, int lane, int lanes) {
  const auto row = [=](int i) { return M + i * (i + 1) / 2; };
  for (int j = 0; j < F; ++j) {
    for (int c = lane; c < j; c += lanes) line[c] = row(j)[c] * inverse[c];
    row_barrier();
    for (int i = j / lanes * lanes + lane; i < F; i += lanes) {
      if (i < j) continue;
      Real *const own = row(i), sum[4] = {};
      int c = 0;
      for (; c + 4 <= j; c += 4)
        for (int u = 0; u < 4; ++u) sum[u] += own[c + u] * line[c + u];
      for (; c < j; ++c) sum[0] += own[c] * line[c];
      own[j] -= (sum[0] + sum[1]) + (sum[2] + sum[3]);
      if (i == j) inverse[j] = 1 / own[j];
    }
    row_barrier();
  }
  for (int j = 0; j < F; ++j) {
    const Real y = x[j] * inverse[j];
    for (int i = j / lanes * lanes + lane; i < F; i += lanes)
      if (i > j) x[i] -= row(i)[j] * y;
    row_barrier();
  }
  for (int j = F - 1; j >= 0; --j) { // L^T x = D^{-1} y: x_j is final when column j is reached
    const Real y = x[j] * inverse[j];
    for (int i = lane; i < j; i += lanes) x[i] -= row(j)[i] * y;
    row_barrier();
    if (lane == 0) x[j] = y;
  }
}

template <class Real>
KOKKOS_FUNCTION void solve_prefixes(const Team &team, int n, int F, Real ridge, const Real *alpha, const Real *k,
                                    std::ptrdiff_t ldk, const Real *q, std::ptrdiff_t ldq, const Real *H, Real *x,
                                    std::ptrdiff_t ldx, Real *work) {
  const size_t triangle = size_t(F) * (F + 1) / 2;
  const int segment = (n - 1) / prefix_rows + 1;
  each_row(team, prefix_rows, [=](int row, int lane, int lanes) {
    Real *running = work + row * (2 * triangle + 3 * F), *M = running + triangle, *solution = M + triangle,
         *line = solution + F, *inverse = line + F;
    const auto add = [=](int t) {
      const Real decay = alpha ? alpha[t] : Real(1), *key = k + t * ldk;
      for (int i = lane; i < F; i += lanes)
        for (int j = 0; j <= i; ++j) {
          Real &element = running[size_t(i) * (i + 1) / 2 + j];
          element = decay * element + key[i] * key[j];
        }
    };
    for (int i = lane; i < F; i += lanes)
      for (int j = 0; j <= i; ++j) running[size_t(i) * (i + 1) / 2 + j] = H[size_t(i) * F + j];
    const int begin = row * segment, end = begin + segment < n ? begin + segment : n;
    for (int t = 0; t < begin && begin < end; ++t) add(t);
    for (int t = begin; t < end; ++t) {
      add(t);
      for (int i = lane; i < F; i += lanes) {
        const size_t first = size_t(i) * (i + 1) / 2;
        for (int j = 0; j <= i; ++j) M[first + j] = running[first + j] + (i == j ? ridge : Real(0));
        solution[i] = q[t * ldq + i];
      }
      row_barrier();
      solve_packed(F, M, solution, line, inverse, lane, lanes);
      row_barrier();
      for (int i = lane; i < F; i += lanes) x[t * ldx + i] = solution[i];
      row_barrier();
    }
  });
}

} // namespace recollect::tile::portable
