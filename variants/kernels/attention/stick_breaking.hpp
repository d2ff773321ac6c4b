// SPDX-License-Identifier: Apache-2.0
// Stick-breaking attention (stick_breaking.cpp). Let z_i be the logit of key i, and s_i = sigmoid(z_i). Query t takes
// the keys i that it sees, oldest first, and computes the moving average a_i = a_{i-1} + s_i (v_i - a_{i-1}); the last
// average is its output. So v_i has the weight w_i = s_i (1 - s_{i+1}) (1 - s_{i+2}) ..., and the gradient of z_i is
// dz_i = w_i (1 - s_i) do_t . (v_i - a_{i-1}).
#pragma once
#include "variants/kernels/attention/attention.hpp"

namespace recollect::variants {

/// Computes one head, query after query. Scratch: s_i [T].
template <class Real> struct SticksOneByOne {
  Real scale, threshold;
  int own; // query t sees t + own keys
  KOKKOS_FUNCTION void operator()(const Team &team, const Head<Real> &h) const {
    const Real scale = this->scale, threshold = this->threshold;
    Real *const share = h.work;
    for (int t = 0; t < h.T; ++t) {
      const int seen = t + own;
      each(team, seen, [=](int i) { share[i] = math::sigmoid(scale * (dot(h.k(i), h.q(t), h.Dk) - threshold)); });
      team.barrier();
      each(team, h.Dv, [=](int c) {
        Real average = 0;
        for (int i = 0; i < seen; ++i) average += share[i] * (h.v(i)[c] - average);
        h.o(t)[c] = average;
      });
      team.barrier();
    }
  }
};

/// Computes one head, in chunks of C queries: its outputs or, if d_o is given, its gradients. Scratch: logits, then
/// weights [C,T]; if d_o is given, also do . v, then the gradients of q . k [C,T].
template <class Real> struct SticksByChunks {
  SticksOneByOne<Real> layer;
  Array<Real> d_o = {}, d_q = {}, d_k = {}, d_v = {};

  KOKKOS_FUNCTION void operator()(const Team &team, const Head<Real> &h) const {
    const int D = h.Dk, V = h.Dv, T = h.T, own = layer.own;
    const bool back = d_o.extent(0) > 0;
    const Real scale = layer.scale, threshold = layer.threshold;
    Real *const weights = h.work, *const slopes = weights + size_t(h.chunk) * T;
    for (int t0 = 0; t0 < T; t0 += h.chunk) {
      const int n = t0 + h.chunk < T ? h.chunk : T - t0, end = t0 + n;
      const size_t key = h.index * T * D, value = h.index * T * V, q = key + size_t(t0) * D, o = value + size_t(t0) * V;
      tile::gemm<Real>(team, n, end, D, 1, tile::rows(h.q(t0), D), tile::transposed(h.k(0), D), 0, weights, T);
      if (back)
        tile::gemm<Real>(team, n, end, V, 1, tile::rows<Real>(&d_o(o), V), tile::transposed(h.v(0), V), 0, slopes, T);
      team.barrier();
      each(team, n, [=](int row) {
        Real *const w = weights + size_t(row) * T, *const d = slopes + size_t(row) * T, average = 0, left = 1;
        const int seen = t0 + row + own;
        for (int i = 0; back && i < seen; ++i) { // average = do . a_{i-1}
          d[i] -= average;
          average += math::sigmoid(scale * (w[i] - threshold)) * d[i];
        }
        for (int i = seen; i < end; ++i) w[i] = 0;
        for (int i = seen; back && i < end; ++i) d[i] = 0;
        for (int i = seen - 1; i >= 0; --i) {
          const Real z = scale * (w[i] - threshold), rest = math::sigmoid(-z);
          w[i] = left * math::sigmoid(z), left *= rest;
          if (back) d[i] *= scale * w[i] * rest;
        }
      });
      team.barrier();
      const tile::Staircase seen{t0 + own, 1};
      if (!back) {
        tile::gemm<Real>(team, n, V, 1, {tile::rows<Real>(weights, T), tile::rows(h.v(0), V), end, seen}, {}, 0,
                         h.o(t0), V);
      } else {
        each_cell(team, n, D, [=](int i, int j) { d_k(q + i * D + j) = 0; });
        each_cell(team, n, V, [=](int i, int j) { d_v(o + i * V + j) = 0; });
        team.barrier();
        tile::gemm<Real>(team, n, D, 1, {tile::rows<Real>(slopes, T), tile::rows(h.k(0), D), end, seen}, {}, 0, &d_q(q),
                         D);
        tile::gemm<Real>(team, end, D, n, 1, tile::transposed<Real>(slopes, T), tile::rows(h.q(t0), D), 1, &d_k(key),
                         D);
        tile::gemm<Real>(team, end, V, n, 1, tile::transposed<Real>(weights, T), tile::rows<Real>(&d_o(o), V), 1,
                         &d_v(value), V);
      }
      team.barrier();
    }
  }
};

} // namespace recollect::variants
