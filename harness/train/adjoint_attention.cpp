// SPDX-License-Identifier: Apache-2.0
// Softmax attention: o_t = sum_{i<=t} r_ti v_i, r_ti = exp(l_ti) / sum_i exp(l_ti), l_ti = scale q_t . k_i. For a loss with
// do:
//   dv_i = sum_t r_ti do_t,   dl_ti = r_ti do_t . (v_i - o_t)
#include "harness/train/adjoint.hpp"
#include "harness/train/parallel.hpp"
#include <cmath>

namespace recollect::train {

Sequence attention_adjoint(const Sequence &s, const Params &params, const std::vector<double> &weights) {
  const int T = s.shape.T, Dk = s.shape.Dk, Dv = s.shape.Dv;
  const double scale = params.real_or("scale", 1 / std::sqrt(double(Dk)));
  Sequence g = zeros_like(s);
  each_of(int(s.shape.heads()), [&](int head) {
    const size_t keys = size_t(head) * size_t(T) * size_t(Dk), values = size_t(head) * size_t(T) * size_t(Dv);
    const double *q = &s.q[keys], *k = &s.k[keys], *v = &s.v[values], *all_d_o = &weights[values];
    double *dq = &g.q[keys], *dk = &g.k[keys], *dv = &g.v[values];
    std::vector<double> r(static_cast<size_t>(T)), dr(r);
    for (int t = 0; t < T; ++t) {
      const double *d_o = all_d_o + t * Dv;
      double largest = -HUGE_VAL, sum = 0, mean = 0; // mean: do_t . o_t
      for (int i = 0; i <= t; ++i)
        r[size_t(i)] = scale * inner(q + t * Dk, k + i * Dk, Dk), largest = std::max(largest, r[size_t(i)]);
      for (int i = 0; i <= t; ++i) sum += r[size_t(i)] = std::exp(r[size_t(i)] - largest);
      for (int i = 0; i <= t; ++i) {
        r[size_t(i)] /= sum;
        dr[size_t(i)] = inner(d_o, v + i * Dv, Dv);
        mean += r[size_t(i)] * dr[size_t(i)];
        add(r[size_t(i)], d_o, dv + i * Dv, Dv);
      }
      for (int i = 0; i <= t; ++i) {
        const double dl = scale * r[size_t(i)] * (dr[size_t(i)] - mean);
        add(dl, k + i * Dk, dq + t * Dk, Dk);
        add(dl, q + t * Dk, dk + i * Dk, Dk);
      }
    }
  });
  return g;
}

} // namespace recollect::train
