// SPDX-License-Identifier: Apache-2.0
// Recursive least squares with geometric forgetting (003 Vignettes 1 and 2): the state is the solution S and the
// inverse Gram matrix P, started at S = 0, P = I / ridge.
//
//   z = P_{t-1} k_t,   d = alpha_t + k_t . z
//   S_t = S_{t-1} + (v_t - S_{t-1} k_t) z^T / d,   P_t = (P_{t-1} - z z^T / d) / alpha_t
#pragma once
#include "harness/device/device.hpp"
#include <vector>

namespace recollect::variants {

template <class Real> struct LeastSquaresRecurrent {
  bool forgets; // with forgetting factor alpha
  KOKKOS_FUNCTION void operator()(const Team &team, const Head<Real> &h) const {
    const int F = h.Dk, Dv = h.Dv;
    Real *S = h.state, *P = S + size_t(Dv) * F, *z = h.work;
    for (int t = 0; t < h.T; ++t) {
      const Real *k = h.k(t), *q = h.q(t), *v = h.v(t), alpha = forgets ? h.alpha[t] : Real(1);
      Real *o = h.o(t);
      team.barrier();
      each(team, F, [=](int i) { z[i] = dot(P + size_t(i) * F, k, F); });
      team.barrier();
      const Real d = alpha + dot(k, z, F);
      each(team, Dv, [=](int i) {
        Real *s = S + size_t(i) * F;
        const Real step = (v[i] - dot(s, k, F)) / d;
        for (int j = 0; j < F; ++j) s[j] += step * z[j];
        o[i] = dot(s, q, F);
      });
      each(team, F, [=](int i) {
        for (int j = 0; j < F; ++j) P[size_t(i) * F + j] = (P[size_t(i) * F + j] - z[i] * z[j] / d) / alpha;
      });
      team.barrier();
      each(team, F,
           [=](int i) { // reads P's upper triangle only: an antisymmetric part would grow by 1 / alpha
             for (int j = i + 1; j < F; ++j) P[size_t(j) * F + i] = P[size_t(i) * F + j];
           });
    }
  }
};

template <class Real> void least_squares_recurrent(const std::string &label, const Call<Real> &call, bool forgets) {
  each_head(label, call, call.shape.Dk, LeastSquaresRecurrent<Real>{forgets});
}
template <class Real> void least_squares_chunked(const std::string &label, const Call<Real> &call, bool forgets);

/// State shape: a value matrix [Dv,Dk] above a square matrix [Dk,Dk] over key channels.
inline StateShape stacked_state(const Shape &s, const Params &) { return {s.Dv + s.Dk, s.Dk}; }

/// S = 0 above P = I / ridge.
inline std::vector<double> inverse_ridge_state(const Shape &s, double ridge) {
  std::vector<double> state(size_t(s.Dv + s.Dk) * s.Dk, 0.0);
  for (int i = 0; i < s.Dk; ++i) state[size_t(s.Dv + i) * s.Dk + i] = 1 / ridge;
  return state;
}

} // namespace recollect::variants
