// SPDX-License-Identifier: Apache-2.0
// Mamba's selective state-space model (Gu and Dao 2023, arXiv:2312.00752, §3.2, Algorithm 2): each value channel i has
// a step size of its own, which sets how fast it forgets and how strongly it writes. In its names: v is x, k is B, q is
// C.
//
//   S_t[i,j] = exp(-Delta_t[i] a_j) S_{t-1}[i,j] + Delta_t[i] v_t[i] k_t[j],   a_j = j + 1 (S4D-real)
//   o_t[i] = sum_j S_t[i,j] q_t[j]
//   Delta_t[i] = beta_t softplus(bias_i + w_t[i mod Dk])
//
// bias gives Delta from dt_min to dt_max, evenly in its logarithm over the channels, where w is absent (the paper draws
// them); w is the data's part before the softplus, and beta_t = 0 skips step t altogether. The skip connection D x is
// left to the caller. State: Dv x Dk. Cost a token: 6 Dv Dk flops and Dv Dk exponentials; chunked twice that, parallel
// over chunks.
#include "variants/kernels/arrays.hpp"
#include "variants/kernels/rows.hpp"
#include "variants/kernels/scan.hpp"
#include <cmath>

namespace recollect::variants {
namespace {

/// Delta [B,H,T,Dv].
template <class Real> Array<Real> step_sizes(const Call<Real> &call) {
  const double low = call.params.real("dt_min"), high = call.params.real("dt_max");
  const int Dv = call.shape.Dv;
  std::vector<double> biases;
  for (int i = 0; i < Dv; ++i) {
    const double step = low * std::pow(high / low, Dv > 1 ? double(i) / (Dv - 1) : 0);
    biases.push_back(step + std::log1p(-std::exp(-step))); // the inverse of softplus
  }
  const Array<Real> bias = constants<Real>("bias", biases), delta = allocate(call, call.v.extent(0));
  const bool selective = call.has("w");
  each_head(
      "mamba::step_sizes", call, 0, KOKKOS_LAMBDA(const Team &team, const Head<Real> &h) {
        each(team, h.T, [=](int t) {
          for (int i = 0; i < h.Dv; ++i) {
            const Real x = bias(i) + (selective ? h.w(t)[i % h.Dk] : Real(0));
            const Real softplus = math::fmax(x, Real(0)) + math::log1p(math::exp(-math::fabs(x)));
            delta((h.index * h.T + t) * h.Dv + i) = h.beta[t] * softplus;
          }
        });
      });
  return delta;
}

template <class Real> void recurrent(const Call<Real> &call) {
  const Array<Real> Delta = step_sizes(call);
  recurrent_rows(
      "mamba::recurrent", call, KOKKOS_LAMBDA(const Head<Real> &h, int t, int i, Real *s)->Real {
        const Real delta = Delta((h.index * h.T + t) * h.Dv + i), write = delta * h.v(t)[i];
        for (int j = 0; j < h.Dk; ++j) s[j] = math::exp(-delta * (j + 1)) * s[j] + write * h.k(t)[j];
        return dot(s, h.q(t), h.Dk);
      });
}

template <class Real> struct Rule {
  Array<Real> Delta;
  KOKKOS_FUNCTION Real delta(const Head<Real> &h, int t, int i) const { return Delta((h.index * h.T + t) * h.Dv + i); }
  KOKKOS_FUNCTION Real decay(const Head<Real> &h, int t, int i, int j) const {
    return math::exp(-delta(h, t, i) * (j + 1));
  }
  KOKKOS_FUNCTION Real write(const Head<Real> &h, int t, int i, int j) const {
    return delta(h, t, i) * h.v(t)[i] * h.k(t)[j];
  }
  KOKKOS_FUNCTION Real read(const Head<Real> &h, int t, int, int j) const { return h.q(t)[j]; }
};

template <class Real> void chunked(const Call<Real> &call) {
  chunked_scan("mamba::chunked", call, Rule<Real>{step_sizes(call)});
}

} // namespace

Variant mamba() {
  Variant v;
  v.family = "gated";
  v.update = "A_t[i] = diag(exp(-Delta_t[i] a)) for value channel i, b_t = Delta_t * v_t, phi = identity";
  v.source = "Gu and Dao 2023 (arXiv:2312.00752) §3.2, Algorithm 2; 003 Eq 4";
  v.differs = "Delta is read off w[i mod Dk]: for Dv > Dk channels share their data-dependent steps, each with a bias "
              "of its own";
  v.cost = {6 * cost::Dv * cost::Dk, cost::Dv * cost::Dk};
  v.params = {real_param("dt_min", 0.001, 1e-6, 10, "step size of the first value channel"),
              real_param("dt_max", 0.1, 1e-6, 10, "step size of the last value channel")};
  v.inputs = {{"beta", false, "factor on all step sizes; 0 skips the step", "", Input::not_negative},
              {"w", false, "the step sizes' data-dependent part before the softplus", "0"}};
  v.forms = {definition([](const auto &call) { recurrent(call); }), {"chunked", chunked<float>, chunked<double>}};
  v.traits.zero_step_keeps = true;
  return v;
}

} // namespace recollect::variants
