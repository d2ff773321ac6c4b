// SPDX-License-Identifier: Apache-2.0
// Small dense blocks inside one team, shared by the chunked forms. Row-major with leading dimensions; no barriers
// inside: the caller places team.team_barrier() between dependent steps.
#pragma once
#include "harness/device/device.hpp"

// GCC 12 unrolls a short innermost loop before it vectorises, and leaves a tile of floats in memory: ten times slower.
#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__)
#define RECOLLECT_VECTOR_LOOP _Pragma("GCC unroll 1")
#else
#define RECOLLECT_VECTOR_LOOP
#endif

namespace recollect::tile {

/// An m x n operand whose element (i, j) is data[i * row + j * column].
template <class Real> struct Matrix {
  const Real *data;
  int row, column;
  KOKKOS_FUNCTION Real operator()(int i, int j) const { return data[size_t(i) * row + size_t(j) * column]; }
};
template <class Real> KOKKOS_FUNCTION Matrix<Real> rows(const Real *data, int width) { return {data, width, 1}; }
template <class Real> KOKKOS_FUNCTION Matrix<Real> transposed(const Real *data, int width) { return {data, 1, width}; }

/// C[m,n] = beta * C + alpha * A[m,k] B[k,n], with B's rows contiguous (ldb). beta = 0 overwrites, so C may be
/// uninitialised. Blocks of 4 x 16 results stay in registers: vector lanes on a CPU, one thread's tile on a GPU.
template <class Real>
KOKKOS_FUNCTION void gemm(const Team &team, int m, int n, int k, Real alpha, Matrix<Real> A, const Real *B, int ldb,
                          Real beta, Real *C, int ldc) {
  constexpr int R = 4, W = on_host ? 64 / sizeof(Real) : 4;
  const int down = (m + R - 1) / R, across = (n + W - 1) / W;
  each(team, down * across, [=](int block) {
    const int i0 = block / across * R, j0 = block % across * W;
    const int height = m - i0 < R ? m - i0 : R, width = n - j0 < W ? n - j0 : W;
    Real sum[R][W] = {};
    if (height == R && width == W) {
      for (int p = 0; p < k; ++p) {
        const Real *b = B + size_t(p) * ldb + j0;
        for (int r = 0; r < R; ++r) {
          const Real a = A(i0 + r, p);
          RECOLLECT_VECTOR_LOOP
          for (int c = 0; c < W; ++c) sum[r][c] += a * b[c];
        }
      }
    } else {
      for (int p = 0; p < k; ++p)
        for (int r = 0; r < height; ++r)
          for (int c = 0; c < width; ++c) sum[r][c] += A(i0 + r, p) * B[size_t(p) * ldb + j0 + c];
    }
    for (int r = 0; r < height; ++r)
      for (int c = 0; c < width; ++c) {
        Real &out = C[size_t(i0 + r) * ldc + j0 + c];
        out = beta == 0 ? alpha * sum[r][c] : beta * out + alpha * sum[r][c];
      }
  });
}

/// B[n,m] = A[m,n]^T
template <class Real>
KOKKOS_FUNCTION void transpose(const Team &team, int m, int n, const Real *A, int lda, Real *B, int ldb) {
  each(team, n, [=](int j) {
    for (int i = 0; i < m; ++i) B[size_t(j) * ldb + i] = A[size_t(i) * lda + j];
  });
}

/// X[n,columns] = (I + L)^{-1} X by forward substitution; only the strict lower triangle of L[n,n] is read.
template <class Real>
KOKKOS_FUNCTION void solve_unit_lower(const Team &team, int n, int columns, const Real *L, int ldl, Real *X, int ldx) {
  constexpr int W = on_host ? 64 / sizeof(Real) : 1;
  each(team, (columns + W - 1) / W, [=](int block) { // column blocks are independent
    const int j0 = block * W, width = columns - j0 < W ? columns - j0 : W;
    for (int i = 1; i < n; ++i) {
      Real sum[W] = {};
      for (int p = 0; p < i; ++p) {
        const Real l = L[size_t(i) * ldl + p];
        for (int c = 0; c < width; ++c) sum[c] += l * X[size_t(p) * ldx + j0 + c];
      }
      for (int c = 0; c < width; ++c) X[size_t(i) * ldx + j0 + c] -= sum[c];
    }
  });
}

} // namespace recollect::tile
