// SPDX-License-Identifier: Apache-2.0
// Small dense factorisations within one team, and rank-one updates of an inverse, many in one block, for layers that
// solve their regression exactly. Matrices are row-major. Functions end with a barrier unless their comment says
// otherwise.
#pragma once
#include "harness/device/tile/transposed.hpp"

namespace recollect::variants {

/// Factorises a symmetric positive definite M[n,n] in place: M = L U, with L unit lower triangular and U = diag(U) L^T.
/// Reads only M's upper triangle. For each block of rows: factorises the diagonal block, computes U to the right of
/// this block by substitution and L below this block by symmetry, and subtracts the product of L and U from the part of
/// M below and to the right.
template <class Real> KOKKOS_FUNCTION void factorise(const Team &team, int n, Real *M, std::ptrdiff_t ld) {
  constexpr int most = 16;
  for (int j0 = 0; j0 < n; j0 += most) {
    const int width = n - j0 < most ? n - j0 : most, rest = n - j0 - width;
    Real *const D = M + j0 * ld + j0, *const U = D + width, *const L = D + width * ld;
    for (int j = 0; j < width; ++j) {
      team.barrier();
      const Real *pivot_row = D + j * ld;
      each_row(team, width - 1 - j, [=](int below, int first, int side) {
        const int i = j + 1 + below;
        Real *row = D + i * ld;
        const Real factor = pivot_row[i] / pivot_row[j];
        for (int k = i + first; k < width; k += side) row[k] -= factor * pivot_row[k];
        if (first == 0) row[j] = factor;
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

/// X[n,columns] = M^{-1} X, given M's factors.
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

/// P[n,n] = M^{-1}, given M's factors.
template <class Real> KOKKOS_FUNCTION void invert(const Team &team, int n, const Real *M, int ld, Real *P) {
  each(team, n, [=](int i) {
    for (int j = 0; j < n; ++j) P[size_t(i) * n + j] = i == j ? 1 : 0;
  });
  team.barrier();
  solve(team, n, n, M, ld, P, n);
}

/// P = scale (P + P^T) / 2. No barrier.
template <class Real> KOKKOS_FUNCTION void symmetrise(const Team &team, int n, Real scale, Real *P, std::ptrdiff_t ld) {
  each_cell(team, n, n, [=](int i, int j) {
    if (j > i) return; // one thread updates an element and its mirror image
    Real &low = P[i * ld + j], &high = P[j * ld + i];
    low = high = scale * (low + high) / 2;
  });
}

/// Sets W[n,n] to 0 above the diagonal. No barrier.
template <class Real> KOKKOS_FUNCTION void keep_lower(const Team &team, int n, Real *W, std::ptrdiff_t ld) {
  each_cell(team, n, n, [=](int t, int i) {
    if (i > t) W[t * ld + i] = 0;
  });
}

/// n successive Sherman-Morrison updates of a symmetric inverse P[F,F] as one block (Woodbury):
///
///   P_t = P_{t-1} - z_t z_t^T / d_t,   z_t = P_{t-1} u_t,   d_t = noise_t + u_t . z_t
///
/// Let U have the rows u_t, and P be P_0. Then U P U^T + diag(noise) = L diag(d) L^T has the d_t as pivots, and the
/// rows of L^{-1} U P are the z_t. A pivot much smaller than the diagonal element before factorisation has lost leading
/// digits by cancellation, which updates one by one would not lose. So the block ends before the first
/// update t with a pivot below 1/4 of its diagonal element, and the next block starts from P_{t-1}.
template <class Real> struct RankOneBlock {
  int n, F;                    // n: number of updates in this block; F: width of P
  std::ptrdiff_t ldm, ld;      // ldm: row pitch of M; ld: row pitch of z and gain
  const Real *noise = nullptr; // [n], null: 1
  Real *M;                     // [n,n] factors: strict lower L_ti = u_t . z_i / d_i, diagonal d_t
  Real *diagonal;              // [n] diagonal of M before factorisation
  Real *z;                     // [n,F] rows z_t
  Real *gain;                  // [n,F] z_t / d_t

  /// Places M, z and gain for up to C updates.
  KOKKOS_FUNCTION void place(Stack<Real> &s, int C, int width) {
    F = width, ldm = tile::pitch<Real>(C), ld = tile::pitch<Real>(F);
    M = s.take(C * ldm), diagonal = s.take(C), z = s.take(C * ld), gain = s.take(C * ld);
  }

  /// Computes up to `steps` updates of P (rows ldp apart) by the rows of `updates`. Sets n, M, z and gain; does not
  /// change P.
  KOKKOS_FUNCTION void compute(const Team &team, int steps, const tile::Matrix<Real> &updates, const Real *P,
                               std::ptrdiff_t ldp) {
    n = steps;
    const RankOneBlock b = *this;
    tile::gemm(team, n, F, F, Real(1), updates, tile::rows(P, ldp), Real(0), z, ld);
    team.barrier();
    tile::gemm(team, n, n, F, Real(1), tile::rows<Real>(z, ld), tile::transposed(updates.data, updates.row), Real(0), M,
               ldm);
    team.barrier();
    each(team, n, [=](int t) {
      Real &pivot = b.M[t * b.ldm + t];
      pivot += b.noise ? b.noise[t] : Real(1);
      b.diagonal[t] = pivot;
    });
    factorise(team, n, M, ldm);
    constexpr int side = on_host ? 1 : 32;
    for (int t = steps - 1 - team.rank % side; t > 0; t -= side) // the first pivot that is too small ends the block
      if (!(M[t * ldm + t] * 4 >= diagonal[t])) n = t;
    n = across_row(n, [](int a, int b) { return a < b ? a : b; });
    tile::solve_unit_lower(team, n, F, M, ldm, z, ld);
    team.barrier();
    each_cell(team, n, F, [=](int t, int j) { b.gain[t * b.ld + j] = b.z[t * b.ld + j] / b.M[t * b.ldm + t]; });
    team.barrier();
  }

  /// P = scale (P - sum_t z_t z_t^T / d_t), symmetrised.
  KOKKOS_FUNCTION void apply(const Team &team, Real scale, Real *P, std::ptrdiff_t ldp) const {
    tile::gemm(team, F, F, n, Real(-1), tile::transposed<Real>(gain, ld), tile::rows<Real>(z, ld), Real(1), P, ldp);
    team.barrier();
    symmetrise(team, F, scale, P, ldp);
    team.barrier();
  }
};

} // namespace recollect::variants
