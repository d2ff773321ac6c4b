// SPDX-License-Identifier: Apache-2.0
// RWKV-7's memory as published: a learning rate per channel, and removal and replacement keys that are both made from
// the key (Peng et al. 2025, arXiv:2503.14456; as in fla's fla/layers/rwkv7.py and its recurrence in fla/ops/rwkv7).
//
//   S_t = S_{t-1} (diag(lambda_t) - beta_t x_t (a_t * x_t)^T) + v_t r_t^T,   x_t = k_t / |k_t|, 0 where k_t = 0
//   r_t = k_t + share (a_t * k_t - k_t),   o_t = S_t q_t
//
// * is element-wise. The input w_t is a_t * k_t, the key times its learning rates (as in gated_delta_net2). The
// strength beta is a common factor of the rates, 1 in the source. With the same a_t in all channels and share = 0, the
// layer is rwkv7 with w_t = k_t. State: Dv x Dk. Cost per token: recurrent 9 Dv Dk; chunked (C steps per chunk) 10 Dv
// Dk + C (6 Dk + 8 Dv) flops, as matrix products.
#include "variants/kernels/chunked/removal_key.hpp"

namespace recollect::variants {
namespace {

template <class Real> DeltaRule<Real> as_rule(const Call<Real> &call, const UnitRows<Real> &removal) {
  const Array<Real> k = call.k, w = call.w, replacement = allocate(call, k.extent(0));
  const Real share = call.params.real("share");
  parallel_loop(
      "rwkv7_published::replacement", k.extent(0),
      KOKKOS_LAMBDA(const size_t i) { replacement(i) = k(i) + share * (w(i) - k(i)); });
  return {1, removal.rows, w, over_lengths(call, removal, call.beta), {}, {}, call.lambda, replacement};
}
template <class Real> void recurrent(const Call<Real> &call) {
  recurrent_removal("rwkv7_published::recurrent", call, as_rule(call, unit_rows(call, call.k, call.shape.Dk)));
}
template <class Real> void chunked(const Call<Real> &call) {
  chunked_removal("rwkv7_published::chunked", call, as_rule(call, unit_rows(call, call.k, call.shape.Dk)));
}
template <class Real> void backward(const BackwardCall<Real> &back) {
  const Call<Real> &call = back.call;
  const size_t n = call.k.extent(0);
  const UnitRows<Real> removal = unit_rows(call, call.k, call.shape.Dk),
                       d_removal{allocate(call, n), allocate(call, call.steps())};
  const DeltaRule<Real> rule = as_rule(call, removal);
  const Array<Real> d_erase = allocate(call, call.steps()), d_replacement = allocate(call, n);
  delta_rule_vjp("rwkv7_published::backward", back, rule,
                 {back.d.q, back.d.w, d_erase, {}, {}, d_removal.rows, back.d.lambda, d_replacement});
  over_lengths_vjp(removal, rule.erase, d_erase, d_removal.length, back.d.beta);
  unit_rows_vjp(removal, d_removal, back.d.k);
  const Real share = call.params.real("share");
  add(d_replacement, back.d.k, 1 - share);
  add(d_replacement, back.d.w, share);
}

} // namespace

Variant rwkv7_published() {
  Variant v = delta_variant();
  v.aliases = {"rwkv7_goose"};
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
  v.traits.zero_step_keeps = false; // beta only scales what is removed
  return v;
}

} // namespace recollect::variants
