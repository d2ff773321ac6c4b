// SPDX-License-Identifier: Apache-2.0
// The operations of tile.hpp with transposed and lower triangular matrices, which backward passes need.
#pragma once
#include "harness/device/tile/tile.hpp"

namespace recollect::tile {

/// The lower triangle of C[n,n] = alpha A[n,width] B[n,width]^T; elements above it need not be written.
template <class Real, class AnyTeam>
RECOLLECT_IN_LINE void gemm_to_lower(const AnyTeam &team, int n, int width, Real alpha, const Matrix<Real> &A,
                                     const Matrix<Real> &B, Real *C, std::ptrdiff_t ldc) {
  Product<Real> product{A, transposed(B.data, B.row), width};
  product.wanted = Staircase{1, 1};
  gemm(team, n, n, alpha, product, {}, Real(0), C, ldc);
}

/// C[n,width] = beta C + alpha A B for a lower triangular A[n,n]. Elements of A that do not count by `given` are not
/// read.
template <class Real, class AnyTeam>
RECOLLECT_IN_LINE void gemm_lower(const AnyTeam &team, int n, int width, Real alpha, const Real *A, std::ptrdiff_t lda,
                                  const Matrix<Real> &B, Real beta, Real *C, std::ptrdiff_t ldc,
                                  Staircase given = {1, 1}) {
  Product<Real> product{rows(A, lda), B, n};
  product.given = given;
  gemm(team, n, width, alpha, product, {}, beta, C, ldc);
}

/// C[n,width] = beta C + alpha A^T B for a lower triangular A[n,n] with zeros above its diagonal. On a CPU the order of
/// the rows of A, B and C is reversed, so that the zeros come last in the sums and are skipped.
template <class Real, class AnyTeam>
RECOLLECT_IN_LINE void gemm_lower_transposed(const AnyTeam &team, int n, int width, Real alpha, const Real *A,
                                             std::ptrdiff_t lda, Matrix<Real> B, Real beta, Real *C,
                                             std::ptrdiff_t ldc) {
  if constexpr (in_registers<Real>) {
    Product<Real> backwards{{A + (n - 1) * (lda + 1), -1, -lda}, {B.data + (n - 1) * B.row, -B.row, B.column}, n};
    backwards.given = Staircase{1, 1};
    host::gemm(n, width, alpha, backwards, beta, C + (n - 1) * ldc, -ldc);
  } else {
    gemm(team, n, width, n, alpha, transposed(A, lda), B, beta, C, ldc);
  }
}

/// out(n-1-i, n-1-j) = L(j, i). If L is lower triangular, so is `out`. Forward substitution with `out` is then backward
/// substitution with L^T.
template <class Real>
KOKKOS_FUNCTION void flip(const Team &team, int n, const Real *L, std::ptrdiff_t ldl, Real *out, std::ptrdiff_t ldo) {
  each_cell(team, n, n, [=](int i, int j) { out[i * ldo + j] = L[(n - 1 - j) * ldl + n - 1 - i]; });
}

/// X[n,columns] = (I + L)^{-T} X, where flip() has made `flipped` from L. Barriers inside.
template <class Real, class AnyTeam>
RECOLLECT_IN_LINE void solve_flipped(const AnyTeam &team, int n, int columns, const Real *flipped, std::ptrdiff_t ldf,
                                     Real *X, std::ptrdiff_t ldx) {
  solve_unit_lower(team, n, columns, flipped, ldf, X + (n - 1) * ldx, -ldx);
}

} // namespace recollect::tile
