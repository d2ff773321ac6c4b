// SPDX-License-Identifier: Apache-2.0
// Recursive least squares with geometric forgetting (003 Vignettes 1 and 2): the state is the solution S and the
// inverse Gram matrix P, started at S = 0, P = I / ridge.
//
//   z = P_{t-1} k_t,  d = alpha_t + k_t . z,   S_t = S_{t-1} + (v_t - S_{t-1} k_t) z^T / d,   P_t = (P_{t-1} - z z^T /
//   d) / alpha_t
#pragma once
#include "harness/device/device.hpp"
#include "harness/numerics/element_response.hpp"
#include <algorithm>

namespace recollect::variants {

template <class Real> struct LeastSquaresRecurrent {
  bool forgets; // by alpha
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
    }
  }
};

template <class Real> void least_squares_recurrent(const std::string &label, const Call<Real> &call, bool forgets) {
  each_head(label, call, call.shape.Dk, LeastSquaresRecurrent<Real>{forgets});
}
template <class Real> void least_squares_chunked(const std::string &label, const Call<Real> &call, bool forgets);

/// Rows of an output-value matrix [Dv,Dk] above a square matrix over key channels [Dk,Dk].
inline StateShape stacked_state(const Shape &s, const Params &) { return {s.Dv + s.Dk, s.Dk}; }

/// S = 0 above P = I / ridge.
inline std::vector<double> inverse_ridge_state(const Shape &s, double ridge) {
  std::vector<double> state(size_t(s.Dv + s.Dk) * s.Dk, 0.0);
  for (int i = 0; i < s.Dk; ++i) state[size_t(s.Dv + i) * s.Dk + i] = 1 / ridge;
  return state;
}

/// Response of the reads o_t = B_t M_t^{-1} q_t to a relative change of M_t's elements by random signs, the largest
/// over heads and prefixes in units of the largest |o|: M_t = r_t I + G_t, B_t and G_t the sums of beta v k^T and beta k
/// k^T, no beta where the layer has none, which alpha decays where `decays`, r_t the ridge, which it decays too where `ridge_decays`. Infinite where some M_t
/// is singular.
inline double gram_condition(const Sequence &s, double ridge, bool decays, bool ridge_decays, bool weighs = false) {
  const Shape &n = s.shape;
  double change = 0, scale = 0;
  for (size_t head = 0; head < n.heads(); ++head) {
    Dense G = (ridge_decays ? ridge : 0) * Dense::identity(n.Dk), B(n.Dv, n.Dk);
    const Dense constant = (ridge_decays ? 0 : ridge) * Dense::identity(n.Dk);
    for (int t = 0; t < n.T; ++t) {
      const size_t step = head * n.T + t;
      const auto row = [&](const std::vector<double> &x, int width) {
        return std::vector<double>(x.begin() + step * width, x.begin() + (step + 1) * width);
      };
      const std::vector<double> k = row(s.k, n.Dk);
      const double alpha = decays && !s.alpha.empty() ? s.alpha[step] : 1;
      const double beta = weighs && !s.beta.empty() ? s.beta[step] : 1;
      G = alpha * G + beta * outer(k, k), B = alpha * B + beta * outer(row(s.v, n.Dv), k);
      const ElementResponse read = element_response(G + constant, B, row(s.q, n.Dk));
      change = std::max(change, read.change), scale = std::max(scale, read.size);
    }
  }
  return change == 0 ? 0 : change / scale;
}

} // namespace recollect::variants
