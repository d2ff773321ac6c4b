// SPDX-License-Identifier: Apache-2.0
// RWKV-7's state: channel decays, a removal key and a separate write key (Peng et al. 2025, arXiv:2503.14456).
//
//   S_t = S_{t-1} (diag(lambda_t) - beta_t x_t x_t^T) + v_t k_t^T,   x_t = w_t / |w_t|, 0 where w_t = 0
//   o_t = S_t q_t
//
// beta is the in-context learning rate a_t, one for all channels, and the replacement key is the given k. The bonus
// term and the output's normalisation are outside the memory. One token is two sub-steps: an erasure along x_t and a
// plain write along k_t. State: Dv x Dk. Cost per token: recurrent 9 Dv Dk; chunked (C steps per chunk) 10 Dv Dk + C (6
// Dk + 8 Dv) flops, as matrix products.
#include "variants/kernels/chunked/removal_key.hpp"

namespace recollect::variants {
namespace {

template <class Real> DeltaRule<Real> as_rule(const Call<Real> &call, const UnitRows<Real> &unit) {
  return {1, unit.rows, unit.rows, call.beta, {}, {}, call.lambda, call.k};
}
template <class Real> void recurrent(const Call<Real> &call) {
  recurrent_removal("rwkv7::recurrent", call, as_rule(call, unit_rows(call, call.w, call.shape.Dk)));
}
template <class Real> void chunked(const Call<Real> &call) {
  chunked_removal("rwkv7::chunked", call, as_rule(call, unit_rows(call, call.w, call.shape.Dk)));
}
template <class Real> void backward(const BackwardCall<Real> &back) {
  const Call<Real> &call = back.call;
  const UnitRows<Real> unit = unit_rows(call, call.w, call.shape.Dk),
                       d{allocate(call, call.w.extent(0)), filled(call, call.steps(), Real(0))};
  delta_rule_vjp("rwkv7::backward", back, as_rule(call, unit),
                 {back.d.q, d.rows, back.d.beta, {}, {}, {}, back.d.lambda, back.d.k});
  unit_rows_vjp(unit, d, back.d.w);
}

} // namespace

Variant rwkv7() {
  Variant v = delta_variant();
  v.aliases = {"rwkv_7"};
  v.update = "$A_t = diag(lambda_t) - beta_t x_t x_t^T$ with $x_t = w_t / |w_t|$, $b_t = v_t$, $phi = identity$";
  v.source = "Peng et al. 2025 (arXiv:2503.14456); reductions by 003 Eq 38-41";
  v.differs =
      "one learning rate $beta$ for all channels, where the published $a_t$ has one for each: $A_t = diag(lambda_t) - "
      "x_t (a_t * x_t)^T$, $x_t$ from $k_t$; the replacement key is $k$ as given; no bonus, no normalised output";
  v.cost = 9 * cost::Dv * cost::Dk;
  v.inputs = {{"beta", true, "in-context learning rate: how much is removed along w"},
              {"lambda", false, "decay of every channel"},
              {"w", false, "removal key, normalised here"}};
  v.forms = {definition([](const auto &call) { recurrent(call); }),
             fast("chunked", chunked<float>, chunked<double>)
                 .backward(backward<float>, backward<double>)
                 .work(4.1 * cost::Dv * cost::Dk + 275 * cost::Dk)};
  v.traits.zero_step_keeps = false; // beta only scales what is removed
  return v;
}

} // namespace recollect::variants
