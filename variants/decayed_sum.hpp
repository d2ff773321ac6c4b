// SPDX-License-Identifier: Apache-2.0
// Chunked form of every linear state without an erase term:
//
//   S_t = S_{t-1} diag(decay_t) + v_t k_t^T,   o_t = scale S_t q_t,   decay_t = alpha_t (scalar) or lambda_t (per key channel)
//
// With q, k any features of width F (phi already applied). For a chunk that starts in state S_0, and D(t,i) the product of the
// decays of steps i+1 ... t:
//
//   o_t = scale (S_0 D(t,0) q_t + sum_{i<=t} [q_t . D(t,i) k_i] v_i),   S_C = S_0 D(C,0) + sum_i v_i (D(C,i) k_i)^T
//
// D is built from products of factors <= 1, never from exponentials of differences of summed logarithms: nothing can overflow,
// and a pair whose decay is 1 keeps full precision after any earlier gate, however small. Per-channel decays use secondary
// chunks (GLA, Yang et al. 2023, §4.3): inside one, pairs are weighted directly; between two, through the boundary.
#pragma once
#include "../harness/tile.hpp"

namespace recollect::variants {

template <class Real> struct DecayedSum {
  int width;                // F, columns of S
  Array<Real> q, k;         // [B,H,T,F]
  Array<Real> alpha;        // [B,H,T], empty: 1
  Array<Real> lambda;       // [B,H,T,F], empty: 1 (with both given, the decay is their product)
  Real scale;
};

template <class Real> struct DecayedSumKernel {
  static constexpr int sub = 16; // secondary chunk
  DecayedSum<Real> in;

  static size_t work_size(int C, int F, int Dv) { return size_t(C) * C + size_t(3) * C * F + size_t(F) * Dv + size_t(F) * C; }

  KOKKOS_FUNCTION void operator()(const Team &team, const Head<Real> &h) const {
    const int F = in.width, Dv = h.Dv, C = h.chunk;
    const size_t first = h.index * h.T;
    const bool scalar = in.alpha.extent(0) != 0, channel = in.lambda.extent(0) != 0;
    Real *A = h.work;               // [C,C] weights q_t . D(t,i) k_i for i <= t, zero above
    Real *decayed_q = A + C * C;    // [C,F] D(t,0) q_t
    Real *decayed_k = decayed_q + C * F; // [C,F] D(C,i) k_i
    Real *decay = decayed_k + C * F;     // [C,F] the step's own factor, one column if scalar
    Real *ST = decay + C * F;       // [F,Dv] transposed state, so that products run along Dv
    Real *kT = ST + F * Dv;         // [F,C]
    tile::transpose(team, Dv, F, h.state, F, ST, Dv);

    for (int t0 = 0; t0 < h.T; t0 += C) {
      const int n = h.T - t0 < C ? h.T - t0 : C;
      const Real *q = in.q.data() + (first + t0) * F, *k = in.k.data() + (first + t0) * F, *v = h.v(t0);
      const Real *alpha = scalar ? in.alpha.data() + first + t0 : nullptr;
      const Real *lambda = channel ? in.lambda.data() + (first + t0) * F : nullptr;
      team.team_barrier();
      each(team, n, [=](int t) {
        for (int j = 0; j < F; ++j) decay[t * F + j] = (alpha ? alpha[t] : Real(1)) * (lambda ? lambda[size_t(t) * F + j] : Real(1));
      });
      tile::transpose(team, n, F, k, F, kT, n);
      team.team_barrier();
      each(team, F, [=](int j) { // running products from the left for queries, from the right for keys
        Real product = 1;
        for (int t = 0; t < n; ++t) decayed_q[t * F + j] = q[size_t(t) * F + j] * (product *= decay[t * F + j]);
        product = 1;
        for (int t = n - 1; t >= 0; --t) {
          decayed_k[t * F + j] = k[size_t(t) * F + j] * product;
          product *= decay[t * F + j];
        }
      });
      if (channel)
        channel_weights(team, n, q, k, decay, A);
      else
        scalar_weights(team, n, q, kT, alpha, A);
      team.team_barrier();
      tile::gemm(team, n, Dv, F, in.scale, tile::rows(decayed_q, F), ST, Dv, Real(0), h.o(t0), Dv);
      team.team_barrier();
      tile::gemm(team, n, Dv, n, in.scale, tile::rows(A, n), v, Dv, Real(1), h.o(t0), Dv);
      each(team, F, [=](int j) {
        Real product = 1;
        for (int t = 0; t < n; ++t) product *= decay[t * F + j];
        for (int c = 0; c < Dv; ++c) ST[j * Dv + c] *= product;
      });
      team.team_barrier();
      tile::gemm(team, F, Dv, n, Real(1), tile::transposed(decayed_k, F), v, Dv, Real(1), ST, Dv);
    }
    team.team_barrier();
    tile::transpose(team, F, Dv, ST, Dv, h.state, F);
  }

  /// One decay for all channels: weights are q k^T times the product of the alphas between.
  KOKKOS_FUNCTION void scalar_weights(const Team &team, int n, const Real *q, const Real *kT, const Real *alpha, Real *A) const {
    tile::gemm(team, n, n, in.width, Real(1), tile::rows(q, in.width), kT, n, Real(0), A, n);
    team.team_barrier();
    each(team, n, [=](int t) {
      Real product = 1;
      for (int i = t; i >= 0; --i) {
        A[t * n + i] *= product;
        if (alpha) product *= alpha[i];
      }
      for (int i = t + 1; i < n; ++i) A[t * n + i] = 0;
    });
  }

  /// Per-channel decays: one row of keys at a time inside a secondary chunk, products through the block's start between two.
  KOKKOS_FUNCTION void channel_weights(const Team &team, int n, const Real *q, const Real *k, const Real *decay, Real *A) const {
    const int F = in.width, blocks = (n + sub - 1) / sub;
    each(team, n * blocks, [=](int unit) {
      const int i = unit / blocks, block = unit % blocks, begin = block * sub, end = begin + sub < n ? begin + sub : n;
      for (int t = begin; t < end; ++t) A[t * n + i] = 0;
      if (end <= i) return;
      for (int j = 0; j < F; ++j) {
        Real key = k[size_t(i) * F + j];
        for (int s = i + 1; s < begin && key != 0; ++s) key *= decay[s * F + j]; // decay up to the block's start
        for (int t = begin > i ? begin : i; t < end; ++t) {
          if (t > i) key *= decay[t * F + j];
          A[t * n + i] += q[size_t(t) * F + j] * key;
        }
      }
    });
  }
};

template <class Real> void decayed_sum(const std::string &label, const Call<Real> &call, const DecayedSum<Real> &in) {
  using Kernel = DecayedSumKernel<Real>;
  each_head(label, call, Kernel::work_size(call.chunk, in.width, call.shape.Dv), Kernel{in});
}

} // namespace recollect::variants
