// SPDX-License-Identifier: Apache-2.0
// Chunked form of every linear state without an erase term:
//
//   S_t = S_{t-1} diag(decay_t) + v_t k_t^T,   o_t = scale S_t q_t,   decay_t = alpha_t lambda_t (per step, per key
//   channel)
//
// With q, k any features of width F (phi already applied). For a chunk that starts in state S_0, and D(t,i) the product
// of the decays of steps i+1 ... t:
//
//   o_t = scale (S_0 D(t,0) q_t + sum_{i<=t} [q_t . D(t,i) k_i] v_i),   S_C = S_0 D(C,0) + sum_i v_i (D(C,i) k_i)^T
//
// D is built from products of factors <= 1, never from exponentials of differences of summed logarithms: nothing can
// overflow, and a pair whose decay is 1 keeps full precision after any earlier gate, however small. Per-channel decays
// use secondary chunks (GLA, Yang et al. 2023, secondary chunking): pairs in the same one are weighted directly, pairs
// of two through the later one's start.
//
// With a bonus u_t the layer reads before it writes (RWKV-6): o_t = scale (S_{t-1} + v_t (u_t k_t)^T) q_t. Pairs then
// meet D(t-1,i), and the step's own pair the weight q_t . u_t k_t.
#pragma once
#include "harness/device/tile.hpp"

namespace recollect::variants {

template <class Real> struct DecayedSum {
  int width;          // F, columns of S
  Array<Real> q, k;   // [B,H,T,F]
  Array<Real> alpha;  // [B,H,T], empty: 1
  Array<Real> lambda; // [B,H,T,F], empty: 1
  Real scale = 1;
  Array<Real> bonus = {};     // [B,H,T,F] u, with lambda only; empty: writes before it reads
  int values = 0;             // V: width of v and o, rows of S
  Array<Real> v = {}, o = {}; // [B,H,T,V]
};

template <class Real> struct DecayedSumKernel {
  static constexpr int sub = 16;                                // steps of a secondary chunk
  static constexpr int lanes = on_host ? 64 / sizeof(Real) : 1; // channels that one thread carries side by side
  DecayedSum<Real> in;

  static size_t work_size(int C, int F, int V) {
    return size_t(C) * C + size_t(3) * C * F + size_t(F) * V + 2 * F + C + size_t(2) * sub * F;
  }

  /// This head's workspace, and the arrays of the chunk at hand.
  struct Chunk {
    int n;                                      // steps
    const Real *q, *k, *alpha, *lambda, *bonus; // first step's rows; null where the gate is absent
    Real *A;                                    // [n,n] weights q_t . D(t,i) k_i for i <= t, zero above
    Real *q_start;                              // [n,F] D(t,0) q_t
    Real *kT;      // [F,n] keys decayed to the end of the steps done so far; D(C,i) k_i at last
    Real *decay;   // [n,F] alpha_t lambda_t where both are given
    Real *total;   // [F] decay of the steps done so far; D(C,0) at last
    Real *step;    // [F] decay of one secondary chunk
    Real *suffix;  // [n] scalar D(C,i)
    Real *q_block; // [sub,F] queries decayed from the secondary chunk's start
    Real *key;     // [sub,F] one running key a thread
  };

  KOKKOS_FUNCTION void operator()(const Team &team, const Head<Real> &h) const {
    const int F = in.width, V = in.values, C = h.chunk;
    Chunk c{};
    c.A = h.work, c.q_start = c.A + C * C, c.kT = c.q_start + C * F, c.decay = c.kT + C * F;
    c.total = c.decay + C * F, c.step = c.total + F, c.suffix = c.step + F, c.q_block = c.suffix + C,
    c.key = c.q_block + sub * F;
    Real *ST = c.key + sub * F; // [F,V] transposed state, so that products run along V
    tile::transpose(team, V, F, h.state, F, ST, V);

    for (int t0 = 0; t0 < h.T; t0 += C) {
      const size_t first = h.index * h.T + t0;
      const Real *v = in.v.data() + first * V;
      Real *o = in.o.data() + first * V;
      c.n = h.T - t0 < C ? h.T - t0 : C;
      c.q = in.q.data() + first * F, c.k = in.k.data() + first * F;
      c.alpha = in.alpha.extent(0) ? in.alpha.data() + first : nullptr;
      c.lambda = in.lambda.extent(0) ? in.lambda.data() + first * F : nullptr;
      c.bonus = in.bonus.extent(0) ? in.bonus.data() + first * F : nullptr;
      team.team_barrier();
      c.lambda ? channel_weights(team, c) : scalar_weights(team, c);
      team.team_barrier();
      const bool decays = c.alpha || c.lambda;
      tile::gemm(team, c.n, V, F, in.scale, tile::rows(decays ? c.q_start : c.q, F), ST, V, Real(0), o, V);
      team.team_barrier();
      tile::gemm(team, c.n, V, c.n, in.scale, tile::rows<Real>(c.A, c.n), v, V, Real(1), o, V);
      if (decays)
        each(team, F, [=](int j) {
          for (int i = 0; i < V; ++i) ST[j * V + i] *= c.total[j];
        });
      team.team_barrier();
      tile::gemm(team, F, V, c.n, Real(1), tile::rows<Real>(c.kT, c.n), v, V, Real(1), ST, V);
    }
    team.team_barrier();
    tile::transpose(team, F, V, ST, V, h.state, F);
  }

  /// One decay for all channels: weights are q k^T times the product of the alphas between.
  KOKKOS_FUNCTION void scalar_weights(const Team &team, const Chunk &c) const {
    const int F = in.width, n = c.n;
    tile::transpose(team, n, F, c.k, F, c.kT, n);
    team.team_barrier();
    tile::gemm(team, n, n, F, Real(1), tile::rows(c.q, F), c.kT, n, Real(0), c.A, n);
    team.team_barrier();
    each(team, n, [=](int t) {
      for (int i = t + 1; i < n; ++i) c.A[t * n + i] = 0;
      if (!c.alpha) return;
      Real product = 1;
      for (int i = t; i >= 0; product *= c.alpha[i--]) c.A[t * n + i] *= product;
      for (int j = 0; j < F; ++j) c.q_start[t * F + j] = product * c.q[size_t(t) * F + j];
      product = 1;
      for (int i = n - 1; i > t; --i) product *= c.alpha[i];
      c.suffix[t] = product;
    });
    if (!c.alpha) return;
    team.team_barrier();
    each(team, F, [=](int j) {
      for (int i = 0; i < n; ++i) c.kT[j * n + i] *= c.suffix[i];
      c.total[j] = c.alpha[0] * c.suffix[0];
    });
  }

  /// Per-channel decays, one secondary chunk after the other.
  KOKKOS_FUNCTION void channel_weights(const Team &team, const Chunk &c) const {
    const int F = in.width, n = c.n;
    const Real *decay = c.alpha ? c.decay : c.lambda;
    each(team, c.alpha ? n : 0, [=](int t) {
      for (int j = 0; j < F; ++j) c.decay[t * F + j] = c.alpha[t] * c.lambda[size_t(t) * F + j];
    });
    each(team, F, [=](int j) { c.total[j] = 1; });
    for (int begin = 0; begin < n; begin += sub) {
      const int end = begin + sub < n ? begin + sub : n;
      team.team_barrier();
      decay_block(team, c, decay, begin, end);
      team.team_barrier();
      tile::gemm(team, end - begin, begin, F, Real(1), tile::rows<Real>(c.q_block, F), c.kT, n, Real(0),
                 c.A + begin * n, n);
      // Pairs inside: key i meets the queries of steps i, i+1, ... on its way down.
      each(team, end - begin, [=](int row) {
        const int i = begin + row;
        Real *key = c.key + row * F;
        for (int j = 0; j < F; ++j) key[j] = c.k[size_t(i) * F + j];
        c.A[i * n + i] = c.bonus ? weighted_dot(c.q + size_t(i) * F, c.bonus + size_t(i) * F, key, F)
                                 : dot(c.q + size_t(i) * F, key, F);
        for (int t = i + 1; t < end; ++t) {
          if (c.bonus) c.A[t * n + i] = dot(c.q + size_t(t) * F, key, F);
          for (int j = 0; j < F; ++j) key[j] *= decay[size_t(t) * F + j];
          if (!c.bonus) c.A[t * n + i] = dot(c.q + size_t(t) * F, key, F);
        }
        for (int after = i + 1; after < n; ++after) c.A[i * n + after] = 0;
      });
      team.team_barrier();
      each(team, F, [=](int j) { // earlier keys and the state move on to this block's end
        for (int i = 0; i < begin; ++i) c.kT[j * n + i] *= c.step[j];
        c.total[j] *= c.step[j];
      });
    }
  }

  KOKKOS_FUNCTION static Real weighted_dot(const Real *a, const Real *weight, const Real *b, int n) {
    Real sum = 0;
    for (int j = 0; j < n; ++j) sum += a[j] * weight[j] * b[j];
    return sum;
  }

  /// Queries of steps [begin, end) decayed from the block's and from the chunk's start, their keys to the block's end.
  KOKKOS_FUNCTION void decay_block(const Team &team, const Chunk &c, const Real *decay, int begin, int end) const {
    const int F = in.width, n = c.n;
    each(team, (F + lanes - 1) / lanes, [=](int group) {
      const int j0 = group * lanes, width = F - j0 < lanes ? F - j0 : lanes;
      Real product[lanes];
      for (int l = 0; l < width; ++l) product[l] = 1;
      const bool reads_first = c.bonus;
      for (int t = begin; t < end; ++t)
        for (int l = 0; l < width; ++l) {
          const size_t at = size_t(t) * F + j0 + l;
          const Real before = product[l];
          product[l] *= decay[at];
          const Real q = c.q[at] * (reads_first ? before : product[l]);
          c.q_block[(t - begin) * F + j0 + l] = q;
          c.q_start[at] = q * c.total[j0 + l];
        }
      for (int l = 0; l < width; ++l) c.step[j0 + l] = product[l], product[l] = 1;
      for (int t = end - 1; t >= begin; --t)
        for (int l = 0; l < width; ++l) {
          const size_t at = size_t(t) * F + j0 + l;
          c.kT[(j0 + l) * n + t] = c.k[at] * product[l];
          product[l] *= decay[at];
        }
    });
  }
};

/// Runs the sum from and to call.state, whose first V rows are S [V,F]. Without v and o of its own: the call's.
template <class Real> void decayed_sum(const std::string &label, const Call<Real> &call, DecayedSum<Real> in) {
  using Kernel = DecayedSumKernel<Real>;
  if (in.values == 0) in.values = call.shape.Dv, in.v = call.v, in.o = call.o;
  each_head(label, call, Kernel::work_size(call.chunk, in.width, in.values), Kernel{in});
}

} // namespace recollect::variants
