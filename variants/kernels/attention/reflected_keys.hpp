// SPDX-License-Identifier: Apache-2.0
// Softmax attention to transformed keys (path_attention.cpp): key i is multiplied by the matrices H_j = I - beta_j w_j
// w_j^T of all steps j with i < j <= t before query t reads it. The attention is computed chunk after chunk.
//
// Let A_ij = beta_i w_i . w_j, strictly lower triangular, and Y = (I + A)^{-1} diag(beta) W, for the steps of one
// chunk. W and K have the w_i and k_i of the chunk as rows. The product of the chunk's H_j is I - W^T Y. For keys of
// earlier chunks, the query t becomes q_t - sum_{i<=t} (q_t . w_i) Y_i, with Y_i row i of Y. Keys j of the same chunk
// have the logits q_t . k_j - sum_{i<=t} (q_t . w_i) U_ij, with U = (I + A)^{-1} times the strictly lower part of
// diag(beta) W K^T.
#pragma once
#include "variants/kernels/attention/attention.hpp"

namespace recollect::variants {

/// Computes one head, chunk after chunk. Scratch: keys [T,Dk], logits [C,T], reads and Y [C,Dk], A, U and R = Q W^T
/// [C,C].
template <class Real> struct ReflectedKeys {
  Real scale;
  KOKKOS_FUNCTION void operator()(const Team &team, const Head<Real> &h) const {
    const int D = h.Dk, T = h.T, C = h.chunk;
    Real *const keys = h.work, *const logits = keys + size_t(T) * D, *const reads = logits + size_t(C) * T,
                *const Y = reads + C * D, *const A = Y + C * D, *const U = A + C * C, *const R = U + C * C;
    const auto product = [&](int m, int n, int k, Real factor, tile::Matrix<Real> a, tile::Matrix<Real> b, Real keep,
                             Real *c, int ld) {
      tile::gemm(team, m, n, k, factor, a, b, keep, c, ld);
      team.barrier();
    };
    for (int t0 = 0; t0 < T; t0 += C) {
      const int n = t0 + C < T ? C : T - t0;
      const Real *W = h.w(t0), *beta = h.beta + t0;
      Real *const own = logits + t0, *const new_keys = keys + size_t(t0) * D;
      each_cell(team, n, D, [=](int i, int j) {
        new_keys[i * D + j] = h.k(t0)[i * D + j], reads[i * D + j] = h.q(t0)[i * D + j];
        Y[i * D + j] = beta[i] * W[i * D + j];
      });
      team.barrier();
      product(n, n, D, 1, tile::rows<Real>(Y, D), tile::transposed<Real>(W, D), 0, A, C);
      product(n, n, D, 1, tile::rows<Real>(Y, D), tile::transposed<Real>(new_keys, D), 0, U, C);
      product(n, n, D, 1, tile::rows<Real>(reads, D), tile::transposed<Real>(W, D), 0, R, C);
      product(n, n, D, 1, tile::rows<Real>(reads, D), tile::transposed<Real>(new_keys, D), 0, own, T);
      each_cell(team, n, n, [=](int i, int j) {
        if (j >= i) U[i * C + j] = 0;
      });
      team.barrier();
      tile::solve_unit_lower(team, n, n, A, C, U, C);
      tile::solve_unit_lower(team, n, D, A, C, Y, D);
      team.barrier();
      each_row(team, n, [=](int i, int lane, int lanes) { // only l <= i: 0 times Inf is NaN
        for (int l = 0; l <= i; ++l) {
          const Real lookup = R[i * C + l];
          for (int j = lane; j < l; j += lanes) own[size_t(i) * T + j] -= lookup * U[l * C + j];
          for (int j = lane; j < D; j += lanes) reads[i * D + j] -= lookup * Y[l * D + j];
        }
      });
      team.barrier();
      if (t0 > 0) product(n, t0, D, 1, tile::rows<Real>(reads, D), tile::transposed<Real>(keys, D), 0, logits, T);
      const Real factor = scale;
      each(team, n, [=](int i) {
        Real *const p = logits + size_t(i) * T, peak = factor * p[0], mass = 0;
        for (int j = 1; j <= t0 + i; ++j) peak = math::fmax(peak, factor * p[j]);
        for (int j = 0; j <= t0 + i; ++j) mass += p[j] = math::exp(factor * p[j] - peak);
        for (int j = 0; j < t0 + n; ++j) p[j] = j <= t0 + i ? p[j] / mass : Real(0);
      });
      team.barrier();
      product(n, h.Dv, t0 + n, 1, tile::rows<Real>(logits, T), tile::rows<Real>(h.v(0), h.Dv), 0, h.o(t0), h.Dv);
      if (t0 > 0) { // keys of earlier chunks are multiplied by the chunk's matrices H_j
        product(t0, n, D, 1, tile::rows<Real>(keys, D), tile::transposed<Real>(Y, D), 0, logits, n);
        product(t0, D, n, -1, tile::rows<Real>(logits, n), tile::rows<Real>(W, D), 1, keys, D);
      }
      product(n, D, n, -1, tile::transposed<Real>(U, C), tile::rows<Real>(W, D), 1, new_keys, D);
    }
  }
};

} // namespace recollect::variants
