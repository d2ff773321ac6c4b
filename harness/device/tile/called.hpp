// SPDX-License-Identifier: Apache-2.0
// The products of tile.hpp as function calls. They are for kernels with dozens of products, which nvcc takes minutes to
// compile if it inlines them. On a GPU the call makes a small product slower, by a sixth.
#pragma once
#include "harness/device/tile/transposed.hpp"

#ifdef __CUDACC__
#define RECOLLECT_CALLED __noinline__
#else
#define RECOLLECT_CALLED
#endif

namespace recollect::tile::called {

template <class Real>
KOKKOS_FUNCTION RECOLLECT_CALLED void gemm(const Team &team, int m, int n, Real alpha, const Product<Real> &first,
                                           Real beta, Real *C, std::ptrdiff_t ldc) {
  tile::gemm(team, m, n, alpha, first, Product<Real>{}, beta, C, ldc);
}
template <class Real>
KOKKOS_FUNCTION void gemm(const Team &team, int m, int n, int k, Real alpha, Matrix<Real> A, Matrix<Real> B, Real beta,
                          Real *C, std::ptrdiff_t ldc) {
  called::gemm(team, m, n, alpha, Product<Real>{A, B, k}, beta, C, ldc);
}
template <class Real>
KOKKOS_FUNCTION void gemm_to_lower(const Team &team, int n, int width, Real alpha, const Matrix<Real> &A,
                                   const Matrix<Real> &B, Real *C, std::ptrdiff_t ldc) {
  Product<Real> product{A, transposed(B.data, B.row), width};
  product.wanted = Staircase{1, 1};
  called::gemm(team, n, n, alpha, product, Real(0), C, ldc);
}
template <class Real>
KOKKOS_FUNCTION void gemm_lower(const Team &team, int n, int width, Real alpha, const Real *A, std::ptrdiff_t lda,
                                const Matrix<Real> &B, Real beta, Real *C, std::ptrdiff_t ldc,
                                Staircase given = {1, 1}) {
  Product<Real> product{rows(A, lda), B, n};
  product.given = given;
  called::gemm(team, n, width, alpha, product, beta, C, ldc);
}
template <class Real>
KOKKOS_FUNCTION void gemm_lower_transposed(const Team &team, int n, int width, Real alpha, const Real *A,
                                           std::ptrdiff_t lda, Matrix<Real> B, Real beta, Real *C, std::ptrdiff_t ldc) {
  if constexpr (on_host)
    tile::gemm_lower_transposed(team, n, width, alpha, A, lda, B, beta, C, ldc);
  else
    called::gemm(team, n, width, n, alpha, transposed(A, lda), B, beta, C, ldc);
}
template <class Real>
KOKKOS_FUNCTION RECOLLECT_CALLED void solve_unit_lower(const Team &team, int n, int columns, const Real *L,
                                                       std::ptrdiff_t ldl, Real *X, std::ptrdiff_t ldx) {
  tile::solve_unit_lower(team, n, columns, L, ldl, X, ldx);
}

} // namespace recollect::tile::called
