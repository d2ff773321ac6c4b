// SPDX-License-Identifier: Apache-2.0
// RWKV-7's memory as published: a learning rate per channel, and removal and replacement keys that are both made from
// the key (Peng et al. 2025, arXiv:2503.14456; as in fla's fla/layers/rwkv7.py and its recurrence in fla/ops/rwkv7).
//
//   S_t = S_{t-1} (diag(lambda_t) - beta_t x_t (a_t * x_t)^T) + v_t r_t^T,   x_t = k_t / |k_t|, 0 where k_t = 0
//   r_t = k_t + share (a_t * k_t - k_t),   o_t = S_t q_t
//
// * is element-wise. w_t is a_t * k_t, the key times its learning rates (as in gated_delta_net2). beta is a common
// factor of the rates, 1 in the source. With the same a_t in all channels and share = 0 it is rwkv7 with w_t = k_t.
// State: Dv x Dk. Cost per token: recurrent 9 Dv Dk; chunked 10 Dv Dk + C (6 Dk + 8 Dv) flops, as matrix products.
#include "variants/kernels/chunked/delta_rule_backward.hpp"
#include "variants/kernels/common/rows.hpp"
#include "variants/kernels/common/unit_rows.hpp"

namespace recollect::variants {
namespace {

/// The unit removal keys x_t, and r_t.
template <class Real> struct Keys {
  UnitRows<Real> removal;
  Array<Real> replacement;
  DeltaRule<Real> rule;
};
template <class Real> Keys<Real> keys_of(const Call<Real> &call) {
  const UnitRows<Real> removal = unit_rows(call, call.k, call.shape.Dk);
  const Array<Real> replacement = allocate(call, call.k.extent(0)), erase = allocate(call, call.steps());
  const Array<Real> k = call.k, w = call.w, beta = call.beta, length = removal.length;
  const Real share = call.params.real("share");
  parallel_loop(
      "rwkv7_published::replacement", k.extent(0),
      KOKKOS_LAMBDA(const size_t i) { replacement(i) = k(i) + share * (w(i) - k(i)); });
  parallel_loop(
      "rwkv7_published::erase", call.steps(),
      KOKKOS_LAMBDA(const size_t t) { erase(t) = length(t) > 0 ? beta(t) / length(t) : Real(0); });
  return {removal, replacement, {1, removal.rows, call.w, erase, {}, {}, call.lambda, replacement}};
}

template <class Real> void recurrent(const Call<Real> &call) {
  const DeltaRule<Real> rule = keys_of(call).rule;
  recurrent_rows(
      "rwkv7_published::recurrent", call, KOKKOS_LAMBDA(const Head<Real> &h, int t, int i, Real *s)->Real {
        const size_t step = h.index * h.T + t;
        const Real *x = &rule.r(step * h.Dk), *r = &rule.keys(step * h.Dk), *w = h.w(t), v = h.v(t)[i];
        const Real removed = rule.erase(step) * dot(s, x, h.Dk);
        for (int j = 0; j < h.Dk; ++j) s[j] = h.lambda(t)[j] * s[j] - removed * w[j] + v * r[j];
        return dot(s, h.q(t), h.Dk);
      });
}
template <class Real> void chunked(Call<Real> call) {
  if (on_host) call.chunk = std::min(call.chunk, 16); // as rwkv7
  delta_rule("rwkv7_published::chunked", call, keys_of(call).rule);
}
template <class Real> void backward(const BackwardCall<Real> &back) {
  const Call<Real> &call = back.call;
  const Keys<Real> keys = keys_of(call);
  const size_t n = call.k.extent(0);
  const UnitRows<Real> d_removal{allocate(call, n), allocate(call, call.steps())};
  const Array<Real> d_replacement = allocate(call, n), d_k = back.d.k, d_w = back.d.w, d_beta = back.d.beta;
  delta_rule_vjp("rwkv7_published::backward", back, keys.rule,
                 {back.d.q, d_w, d_beta, {}, {}, d_removal.rows, back.d.lambda, d_replacement});
  const Real share = call.params.real("share");
  parallel_loop(
      "rwkv7_published::lengths", call.steps(), KOKKOS_LAMBDA(const size_t t) {
        const Real length = keys.removal.length(t),
                   d = length > 0 ? d_beta(t) / length : Real(0); // d_beta: gradient of erase
        d_removal.length(t) = -keys.rule.erase(t) * d, d_beta(t) = d;
      });
  unit_rows_vjp(keys.removal, d_removal, d_k);
  parallel_loop(
      "rwkv7_published::keys", n,
      KOKKOS_LAMBDA(const size_t i) { d_k(i) += (1 - share) * d_replacement(i), d_w(i) += share * d_replacement(i); });
}

} // namespace

Variant rwkv7_published() {
  Variant v;
  v.aliases = {"rwkv7_goose"};
  v.family = "delta rule";
  v.update = "$A_t = diag(lambda_t) - beta_t k_t w_t^T / |k_t|^2$, $b_t = v_t$ at the key $k_t + share (w_t - k_t)$, "
             "$phi = identity$";
  v.source = "Peng et al. 2025 (arXiv:2503.14456), as in fla/layers/rwkv7.py";
  v.differs =
      "$w_t = a_t * k_t$ is given; the factors on the removal key are 1 and $share$ is one number, where the source "
      "learns one for each channel; no bonus, no normalised output";
  v.cost = 9 * cost::Dv * cost::Dk;
  v.params = {tuned(real_param("share", 1, -no_limit, no_limit, "share of the learning rates in the replacement key"),
                    {0, 0.5})};
  v.inputs = {{"beta", false, "factor on what is removed"},
              {"lambda", false, "decay of every channel"},
              {"w", false, "the key times its learning rates, one per channel"}};
  v.forms = {definition([](const auto &call) { recurrent(call); }),
             fast("chunked", chunked<float>, chunked<double>)
                 .backward(backward<float>, backward<double>)
                 .work(4.1 * cost::Dv * cost::Dk + 275 * cost::Dk)};
  v.traits.zero_key_keeps = true;
  v.traits.repeats = Repeats::last;
  return v;
}

} // namespace recollect::variants
