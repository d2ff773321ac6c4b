// SPDX-License-Identifier: Apache-2.0
// RWKV-6 "Finch" (Peng et al. 2024, arXiv:2404.05892): a data-dependent decay per key channel. A step reads before it
// writes, and its own pair is added to the read with a bonus weight u. In the paper's names, q is r, and lambda is w.
//
//   o_t = (S_{t-1} + v_t (u_t k_t)^T) q_t
//   S_t = S_{t-1} diag(alpha_t lambda_t) + v_t k_t^T
//
// If the input w [B,H,T,Dk] is given, it is the bonus (the paper's is the same at every step); otherwise the bonus is
// the parameter u for all channels. State: Dv x Dk. Cost per token: recurrent 8 Dv Dk flops; chunked as gated_linear.
#include "harness/device/each_index.hpp"
#include "variants/kernels/chunked/gated_recurrence_backward.hpp"
#include "variants/kernels/chunked/stored.hpp"
#include "variants/kernels/common/arrays.hpp"
#include "variants/kernels/common/rows.hpp"

namespace recollect::variants {
namespace {

/// u_t of every step and channel.
template <class Real> Array<Real> bonus(const Call<Real> &call) {
  if (call.has("w")) return call.w;
  return filled(call, call.k.extent(0), Real(call.params.real("u")));
}

template <class Real> void recurrent(const Call<Real> &call) {
  const Array<Real> bonuses = bonus(call);
  recurrent_rows(
      "rwkv6::recurrent", call, KOKKOS_LAMBDA(const Head<Real> &h, int t, int i, Real *s)->Real {
        const Real *q = h.q(t), *k = h.k(t), *lambda = h.lambda(t), *u = bonuses.data() + (h.index * h.T + t) * h.Dk;
        Real read = 0;
        for (int j = 0; j < h.Dk; ++j) {
          const Real written = h.v(t)[i] * k[j];
          read += (s[j] + u[j] * written) * q[j];
          s[j] = h.alpha[t] * lambda[j] * s[j] + written;
        }
        return read;
      });
}

template <class Real> GatedRecurrence<Real> as_sum(const Call<Real> &call) {
  const Array<Real> alpha = call.has("alpha") ? call.alpha : Array<Real>();
  return {call.shape.Dk, call.q, call.k, alpha, call.lambda, Real(1), bonus(call)};
}
template <class Real> void chunked(const Call<Real> &call) { gated_recurrence("rwkv6::chunked", call, as_sum(call)); }
template <class Real> void backward(const BackwardCall<Real> &back) {
  GatedRecurrenceGradient<Real> d{back.d.q, back.d.k};
  if (back.call.has("alpha")) d.alpha = back.d.alpha;
  d.lambda = back.d.lambda;
  if (back.call.has("w")) d.bonus = back.d.w;
  gated_recurrence_vjp("rwkv6::backward", back, as_sum(back.call), d);
}

#ifdef KOKKOS_ENABLE_CUDA
template <class Stored> StoredRule stored_rule(const Call<float, Stored> &call) {
  StoredRule rule;
  if (call.has("alpha")) rule.alpha = call.alpha;
  rule.lambda = call.lambda, rule.bonus = call.arena->template take<float>(call.k.extent(0));
  if (call.has("w"))
    convert(rule.bonus, call.w);
  else
    fill(rule.bonus, float(call.params.real("u")));
  return rule;
}
template <class Stored> void chunked_stored(const Call<float, Stored> &call) {
  run_16_bits("rwkv6::chunked", call, stored_rule(call));
}
template <class Stored> void backward_stored(const BackwardCall<float, Stored> &back) {
  StoredGradient d;
  if (back.call.has("alpha")) d.alpha = back.d.alpha;
  d.lambda = back.d.lambda;
  if (back.call.has("w")) d.bonus = back.call.arena->template take<float>(back.d.w.extent(0));
  run_16_bits("rwkv6::backward", back, stored_rule(back.call), d);
  if (back.call.has("w")) convert(back.d.w, d.bonus);
}
#endif

} // namespace

Variant rwkv6() {
  Variant v;
  v.aliases = {"rwkv_6"};
  v.family = "gated";
  v.update = "$A_t = diag(lambda_t)$, $b_t = v_t$, $phi = identity$; $o_t = (S_{t-1} + v_t (u_t k_t)^T) q_t$";
  v.source = "Peng et al. 2024 (arXiv:2404.05892), Finch; 003 Eq 16";
  v.cost = 8 * cost::Dv * cost::Dk;
  v.params = {tuned(real_param("u", 1, -no_limit, no_limit, "bonus of all channels where w is absent"), {0})};
  v.inputs = {{"alpha", false, "one decay for all channels; multiplies $lambda$"},
              {"lambda", false, "decay of each key channel"},
              {"w", false, "bonus of each key channel", "the parameter u"}};
  v.needs_one_of = {"alpha", "lambda"};
  v.forms = {definition([](const auto &call) { recurrent(call); }),
             fast("chunked", chunked<float>, chunked<double>)
                 .backward(backward<float>, backward<double>)
#ifdef KOKKOS_ENABLE_CUDA
                 .native({chunked_stored<BFloat16>, chunked_stored<Float16>, takes_16_bits})
                 .native_backward({backward_stored<BFloat16>, backward_stored<Float16>, takes_16_bits_back})
#endif
                 .work(2 * cost::Dv * cost::Dk + 120 * cost::Dk + 1400)};
  v.traits.zero_key_keeps = true;
  v.traits.repeats = Repeats::sum;
  return v;
}

} // namespace recollect::variants
