// SPDX-License-Identifier: Apache-2.0
// Solves symmetric positive definite systems within one team. Matrices are row-major. cholesky() begins and ends with a
// barrier; the solves contain none.
#pragma once
#include "harness/device/device.hpp"

namespace recollect::variants {

/// Replaces the lower triangle of A [n,n] by L with L L^T = A. The strict upper triangle is neither read nor written.
template <class Real> KOKKOS_FUNCTION void cholesky(const Team &team, int n, Real *A, int lda) {
  for (int j = 0; j < n; ++j) {
    team.barrier();
    each(team, n - j,
         [=](int r) { A[size_t(j + r) * lda + j] -= dot(A + size_t(j + r) * lda, A + size_t(j) * lda, j); });
    team.barrier();
    const Real pivot = math::sqrt(A[size_t(j) * lda + j]);
    team.barrier();
    each(team, n - j, [=](int r) { A[size_t(j + r) * lda + j] = r ? A[size_t(j + r) * lda + j] / pivot : pivot; });
  }
  team.barrier();
}

/// X [n,columns] = L^{-1} X. Columns are shared among the threads. No barrier.
template <class Real>
KOKKOS_FUNCTION void solve_lower(const Team &team, int n, int columns, const Real *L, int lda, Real *X, int ldx) {
  each(team, columns, [=](int c) {
    for (int i = 0; i < n; ++i) {
      Real sum = X[size_t(i) * ldx + c];
      for (int j = 0; j < i; ++j) sum -= L[size_t(i) * lda + j] * X[size_t(j) * ldx + c];
      X[size_t(i) * ldx + c] = sum / L[size_t(i) * lda + i];
    }
  });
}

/// X [n,columns] = L^{-T} X. No barrier.
template <class Real>
KOKKOS_FUNCTION void solve_lower_transposed(const Team &team, int n, int columns, const Real *L, int lda, Real *X,
                                            int ldx) {
  each(team, columns, [=](int c) {
    for (int i = n - 1; i >= 0; --i) {
      Real sum = X[size_t(i) * ldx + c];
      for (int j = i + 1; j < n; ++j) sum -= L[size_t(j) * lda + i] * X[size_t(j) * ldx + c];
      X[size_t(i) * ldx + c] = sum / L[size_t(i) * lda + i];
    }
  });
}

} // namespace recollect::variants
