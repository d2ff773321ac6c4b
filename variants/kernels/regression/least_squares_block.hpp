// SPDX-License-Identifier: Apache-2.0
// A block of least_squares.hpp's steps (Woodbury). D_t is the product of the alphas from the block's start through step
// t. Then D_t P_t follows the recursion of RankOneBlock with noise D_t, without a division by alpha_t. The factor L of
// RankOneBlock also turns V - K S_0^T into the residuals e_t = v_t - S_{t-1} k_t, and
//
//   o_t = S_0 q_t + sum_{i<=t} (q_t . z_i / d_i) e_i
//
// A block ends early once D_t is below 1/16. The division by D_t at the end of a block then enlarges rounding errors at
// most by 16 / alpha_t, where t is the block's last step.
#pragma once
#include "variants/kernels/regression/least_squares.hpp"
#include "variants/kernels/regression/regression.hpp"

namespace recollect::variants {

/// Computes the outputs of a block of steps that starts from S_0 and P_0, and S after the block.
template <class Real> struct LeastSquaresBlock {
  RankOneBlock<Real> updates;
  std::ptrdiff_t lda, lde;
  Real *A; // [C,C] q_t . z_i / d_i for i <= t
  Real *E; // [C,Dv] e_t

  KOKKOS_FUNCTION void place(Stack<Real> &s, int C, int F, int Dv) {
    updates.place(s, C, F);
    lda = tile::pitch<Real>(C), lde = tile::pitch<Real>(Dv);
    A = s.take(C * lda), E = s.take(C * lde);
  }

  /// Runs steps t0 ... t0 + n - 1, where n is at most `steps`: writes their o, turns ST [F,Dv] (S_0 transposed) into
  /// S_n, and returns n.
  KOKKOS_FUNCTION int run(const Team &team, const Head<Real> &h, int t0, int steps, const Real *noise, const Real *P,
                          std::ptrdiff_t ldp, Real *ST, std::ptrdiff_t lds) {
    const int F = h.Dk, Dv = h.Dv;
    const auto k = tile::rows(h.k(t0), F), q = tile::rows(h.q(t0), F);
    updates.noise = noise;
    updates.compute(team, steps, k, P, ldp);
    const int n = updates.n;
    const std::ptrdiff_t lda = this->lda, lde = this->lde;
    Real *o = h.o(t0), *A = this->A, *E = this->E;
    const tile::Matrix<Real> S = tile::rows<Real>(ST, lds), gain = tile::rows<Real>(updates.gain, updates.ld);
    tile::copy(team, n, Dv, h.v(t0), Dv, E, lde);
    team.barrier();
    tile::gemm(team, n, Dv, F, Real(-1), k, S, Real(1), E, lde);
    tile::gemm(team, n, Dv, F, Real(1), q, S, Real(0), o, Dv);
    tile::gemm(team, n, n, F, Real(1), q, tile::transposed(gain.data, gain.row), Real(0), A, lda);
    team.barrier();
    tile::solve_unit_lower(team, n, Dv, updates.M, updates.ldm, E, lde);
    keep_lower(team, n, A, lda);
    team.barrier();
    tile::gemm_lower<Real>(team, n, Dv, Real(1), A, lda, tile::rows<Real>(E, lde), Real(1), o, Dv);
    tile::gemm(team, F, Dv, n, Real(1), tile::transposed(gain.data, gain.row), tile::rows<Real>(E, lde), Real(1), ST,
               lds);
    team.barrier();
    return n;
  }
};

/// Computes D[t] of at most `most` steps, where alpha[0] belongs to the first, until D is below 1/16. If alpha is null,
/// D is 1. Returns the number of steps; RankOneBlock may end the block earlier. The caller places barriers before and
/// after.
template <class Real> KOKKOS_FUNCTION int block_products(const Team &team, const Real *alpha, int most, Real *D) {
  int steps = 0;
  for (Real product = 1; steps < most && product >= Real(1) / 16; ++steps)
    if (alpha) product *= alpha[steps];
  team.barrier();
  once(team, [=] {
    for (int t = 0; t < steps; ++t) D[t] = (t ? D[t - 1] : Real(1)) * (alpha ? alpha[t] : Real(1));
  });
  team.barrier();
  return steps;
}

} // namespace recollect::variants
