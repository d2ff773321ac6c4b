// SPDX-License-Identifier: Apache-2.0
// Small dense factorisations inside one team, and the block form of a run of rank-one updates of an inverse: shared by
// the layers that solve their regression exactly. Row-major; each function ends with its own barrier.
#pragma once
#include "harness/device/tile.hpp"

namespace recollect::variants {

/// M = L U of a symmetric positive definite M[n,n], in place: L unit lower, U = diag(U) L^T. Only M's upper triangle is
/// read. Blocks of rows one after the other: the block on the diagonal, U right of it by substitution, L below it from U
/// by symmetry, and what is left of M by a product.
template <class Real> KOKKOS_FUNCTION void factorise(const Team &team, int n, Real *M, std::ptrdiff_t ld) {
  constexpr int most = 16;
  for (int j0 = 0; j0 < n; j0 += most) {
    const int width = n - j0 < most ? n - j0 : most, rest = n - j0 - width;
    Real *const D = M + j0 * ld + j0, *const U = D + width, *const L = D + width * ld;
    for (int j = 0; j < width; ++j) {
      team.barrier();
      const Real *pivot_row = D + j * ld;
      each(team, width - 1 - j, [=](int below) {
        const int i = j + 1 + below;
        Real *row = D + i * ld;
        const Real factor = pivot_row[i] / pivot_row[j];
        for (int k = i; k < width; ++k) row[k] -= factor * pivot_row[k];
        row[j] = factor;
      });
    }
    team.barrier();
    if (rest == 0) return;
    tile::solve_unit_lower(team, width, rest, D, ld, U, ld);
    team.barrier();
    each_cell(team, rest, width, [=](int i, int j) { L[i * ld + j] = U[j * ld + i] / D[j * ld + j]; });
    team.barrier();
    tile::gemm(team, rest, rest, width, Real(-1), tile::rows<Real>(L, ld), tile::rows<Real>(U, ld), Real(1), L + width,
               ld);
  }
  team.barrier();
}

/// X[n,columns] = M^{-1} X from M's factors.
template <class Real>
KOKKOS_FUNCTION void solve(const Team &team, int n, int columns, const Real *M, int ld, Real *X, int ldx) {
  tile::solve_unit_lower(team, n, columns, M, ld, X, ldx);
  team.barrier();
  each(team, columns, [=](int c) {
    for (int i = n - 1; i >= 0; --i) {
      Real sum = X[size_t(i) * ldx + c];
      for (int k = i + 1; k < n; ++k) sum -= M[size_t(i) * ld + k] * X[size_t(k) * ldx + c];
      X[size_t(i) * ldx + c] = sum / M[size_t(i) * ld + i];
    }
  });
  team.barrier();
}

/// P[n,n] = M^{-1} from M's factors.
template <class Real> KOKKOS_FUNCTION void invert(const Team &team, int n, const Real *M, int ld, Real *P) {
  each(team, n, [=](int i) {
    for (int j = 0; j < n; ++j) P[size_t(i) * n + j] = i == j ? 1 : 0;
  });
  team.barrier();
  solve(team, n, n, M, ld, P, n);
}

/// n successive Sherman-Morrison updates of a symmetric inverse P[F,F] as one block (Woodbury):
///
///   P_t = P_{t-1} - z_t z_t^T / d_t,   z_t = P_{t-1} u_t,   d_t = noise_t + u_t . z_t
///
/// The pivots of U P U^T + diag(noise) = L diag(d) L^T are the d_t, and L^{-1} U P has the rows z_t. A pivot much
/// smaller than its diagonal element has lost its leading digits to cancellation, which the one-by-one recursion does
/// not suffer: the block ends before the first one that fell below 1/4, and the next block starts from the P that this
/// one leaves.
template <class Real> struct RankOneBlock {
  int n, F, ld;      // updates of this block, width, and the row length of M
  const Real *u;     // [n,F]
  const Real *noise; // [n], null: 1
  Real *M;           // [n,ld] factors: strict lower L_ti = u_t . z_i / d_i, diagonal d_t
  Real *diagonal;    // [n] of M before it was factorised
  Real *z;           // [n,F]
  Real *gain;        // [n,F] z_t / d_t

  static size_t work_size(int C, int F) { return size_t(C) * C + 2 * size_t(C) * F + C; }
  /// Lays out M, z and gain for up to C updates in `work`; returns what follows.
  KOKKOS_FUNCTION Real *place(Real *work, int C, int width) {
    F = width;
    M = work, z = M + size_t(C) * C, gain = z + size_t(C) * F, diagonal = gain + size_t(C) * F;
    return diagonal + C;
  }

  /// Up to `steps` updates of P by the rows of `u`: sets n, M, z and gain, and leaves P as it is.
  KOKKOS_FUNCTION void compute(const Team &team, int steps, const Real *P) {
    n = ld = steps;
    const RankOneBlock b = *this;
    tile::gemm(team, n, F, F, Real(1), tile::rows(u, F), tile::rows<Real>(P, F), Real(0), z, F);
    team.barrier();
    tile::gemm(team, n, n, F, Real(1), tile::rows(z, F), tile::transposed(u, F), Real(0), M, ld);
    team.barrier();
    each(team, n, [=](int t) {
      Real &pivot = b.M[size_t(t) * b.ld + t];
      pivot += b.noise ? b.noise[t] : Real(1);
      b.diagonal[t] = pivot;
    });
    factorise(team, n, M, ld);
    for (n = 1; n < steps && M[size_t(n) * ld + n] * 4 >= diagonal[n];) ++n;
    tile::solve_unit_lower(team, n, F, M, ld, z, F);
    team.barrier();
    each(team, n, [=](int t) {
      const Real scale = 1 / b.M[size_t(t) * b.ld + t];
      for (int j = 0; j < b.F; ++j) b.gain[size_t(t) * b.F + j] = scale * b.z[size_t(t) * b.F + j];
    });
    team.barrier();
  }

  /// P = scale (P - sum_t z_t z_t^T / d_t), made symmetric.
  KOKKOS_FUNCTION void apply(const Team &team, Real scale, Real *P) const {
    const int F = this->F;
    tile::gemm(team, F, F, n, Real(-1), tile::transposed(gain, F), tile::rows<Real>(z, F), Real(1), P, F);
    team.barrier();
    each(team, F, [=](int i) { // row i's lower part and column i's upper part belong to one thread
      for (int j = 0; j <= i; ++j) {
        Real &low = P[size_t(i) * F + j], &high = P[size_t(j) * F + i];
        low = high = scale * (low + high) / 2;
      }
    });
    team.barrier();
  }
};

} // namespace recollect::variants
