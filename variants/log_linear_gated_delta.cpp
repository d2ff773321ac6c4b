// SPDX-License-Identifier: Apache-2.0
// Log-linear Gated DeltaNet (Guo et al. 2025, arXiv:2506.04761): gated_delta_net with a state for every level l of a
// Fenwick tree over the past, each read with a separate weight. A step erases from all levels.
//
//   S_t^0 = beta_t v_t k_t^T,   S_t^l = alpha_t S_{t-1}^l (I - beta_t k_t k_t^T)   (steps of level l: levels.hpp)
//   o_t = sum_l w_t^l S_t^l q_t
//
// If all weights w_t^l are 1, the layer is gated_delta_net. State: at most log2(T) + 2 matrices Dv x Dk; this grows
// with T, so the descriptor has no finite state. Cost of token t: at least 7 Dv Dk flops, the cost of one state; the
// chunked form runs one gated_delta_net per level.
#include "variants/kernels/chunked/decay_first.hpp"
#include "variants/kernels/chunked/levels.hpp"

namespace recollect::variants {
namespace {

template <class Real> struct DecayAndErase {
  KOKKOS_FUNCTION void operator()(const Head<Real> &h, int t, Real *s) const {
    const Real *k = h.k(t), alpha = h.alpha[t], erase = h.beta[t] * alpha * dot(s, k, h.Dk);
    for (int j = 0; j < h.Dk; ++j) s[j] = alpha * s[j] - erase * k[j];
  }
};
template <class Real> void recurrent(const Call<Real> &call) {
  recurrent_levels("log_linear_gated_delta::recurrent", call, DecayAndErase<Real>());
}

/// One level's rule: it erases with the strength alpha beta of gated_delta_net, and writes only that level's steps.
template <class Real> DeltaRule<Real> as_rule(const Call<Real> &one, const Array<Real> &beta) {
  return {1, one.k, one.k, products(one, one.alpha, beta), one.beta, one.alpha, {}};
}
template <class Real> void chunked(const Call<Real> &call) {
  by_levels(call, [&](const Call<Real> &one) {
    delta_rule("log_linear_gated_delta::chunked", one, as_rule(one, call.beta));
  });
}
template <class Real> void backward(const BackwardCall<Real> &back) {
  by_levels_vjp(back, [&](const BackwardCall<Real> &one) {
    const Array<Real> d_erase = allocate(one.call, one.call.steps());
    delta_rule_vjp("log_linear_gated_delta::backward", one, as_rule(one.call, back.call.beta),
                   {one.d.q, one.d.k, d_erase, one.d.beta, one.d.alpha});
    add_erase_gradient(one.call.alpha, back.call.beta, d_erase, one.d.alpha, back.d.beta);
  });
}

} // namespace

Variant log_linear_gated_delta() {
  Variant v = levels_variant();
  v.aliases = {"log_linear_gdn", "log_linear_gated_deltanet"};
  v.family = "delta rule";
  v.update =
      "$S_t^0 = beta_t v_t k_t^T$, $S_t^l = alpha_t S_{t-1}^l (I - beta_t k_t k_t^T)$, levels merged as a Fenwick "
      "tree, $o_t = sum_l w_t^l S_t^l q_t$";
  v.source = "Guo et al. 2025 (arXiv:2506.04761), Gated DeltaNet variant";
  v.cost = cost::at_least(7 * cost::Dv * cost::Dk);
  v.forms = {definition([](const auto &call) { recurrent(call); }),
             fast("chunked", chunked<float>, chunked<double>).backward(backward<float>, backward<double>)};
  v.traits.repeats = Repeats::last;
  return v;
}

} // namespace recollect::variants
