// SPDX-License-Identifier: Apache-2.0
// Linear attention, the Hebbian sum of outer products (000 Eq 1, 32; 002 §2; 003 Eq 2-3 with phi the identity).
//
//   S_t = S_{t-1} + v_t k_t^T
//   o_t = S_t (scale q_t)
//
// State: Dv x Dk. Cost per token: recurrent 4 Dv Dk; chunked (C steps per chunk) 4 Dv Dk + 2 C (Dk + Dv) flops, as
// matrix products.
#include "variants/kernels/chunked/gated_recurrence_backward.hpp"
#include "variants/kernels/chunked/stored.hpp"
#include "variants/kernels/common/rows.hpp"

namespace recollect::variants {
namespace {

template <class Real> void recurrent(const Call<Real> &call) {
  const Real scale = call.params.real("scale");
  recurrent_rows(
      "linear::recurrent", call, KOKKOS_LAMBDA(const Head<Real> &h, int t, int i, Real *s)->Real {
        const Real v = h.v(t)[i], *k = h.k(t);
        for (int j = 0; j < h.Dk; ++j) s[j] += v * k[j];
        return scale * dot(s, h.q(t), h.Dk);
      });
}

template <class Real> GatedRecurrence<Real> as_sum(const Call<Real> &call) {
  return {call.shape.Dk, call.q, call.k, {}, {}, Real(call.params.real("scale"))};
}
template <class Real> void chunked(const Call<Real> &call) { gated_recurrence("linear::chunked", call, as_sum(call)); }
template <class Real> void backward(const BackwardCall<Real> &back) {
  gated_recurrence_vjp("linear::backward", back, as_sum(back.call), {back.d.q, back.d.k});
}

#ifdef KOKKOS_ENABLE_CUDA
template <class Stored> StoredRule stored_rule(const Call<float, Stored> &call) {
  StoredRule rule;
  rule.scale = float(call.params.real("scale"));
  return rule;
}
template <class Stored> void chunked_stored(const Call<float, Stored> &call) {
  run_16_bits("linear::chunked", call, stored_rule(call));
}
template <class Stored> void backward_stored(const BackwardCall<float, Stored> &back) {
  run_16_bits("linear::backward", back, stored_rule(back.call), {});
}
#endif

} // namespace

Variant linear() {
  Variant v;
  v.aliases = {"linear_attn", "linear_attention"};
  v.family = "additive";
  v.update = "$A_t = I$, $b_t = v_t$, $phi = identity$";
  v.objective = "$-<S k, v>$";
  v.source = "000 Eq 1, 32; 002 §2; 003 Eq 2-3";
  v.cost = 4 * cost::Dv * cost::Dk;
  v.params = {tuned(real_param("scale", 1, -no_limit, no_limit, "factor on $q k^T$"), {0.2, 0.05})};
  v.forms = {definition([](const auto &call) { recurrent(call); }),
             fast("chunked", chunked<float>, chunked<double>)
                 .backward(backward<float>, backward<double>)
#ifdef KOKKOS_ENABLE_CUDA
                 .native({chunked_stored<BFloat16>, chunked_stored<Float16>, takes_16_bits})
                 .native_backward({backward_stored<BFloat16>, backward_stored<Float16>, takes_16_bits_back})
                 .packs()
#endif
                 .work(1.3 * cost::Dv * cost::Dk + 50 * cost::Dk + 7 * cost::Dv)};
  v.traits.order_invariant = true;
  v.traits.zero_key_keeps = true;
  v.traits.repeats = Repeats::sum;
  return v;
}

} // namespace recollect::variants
