// SPDX-License-Identifier: Apache-2.0
// Linear attention with forgetting (003 Eq 4, 16; 002 §5). The decay is a scalar alpha_t, a factor lambda_t per key
// channel as in GLA (Yang et al. 2023, arXiv:2312.06635; an alias of this layer), or their product. (The layer that 000
// Table 2 calls GLA gates the values; GLA's paper gates the keys.)
//
//   S_t = S_{t-1} diag(alpha_t lambda_t) + v_t k_t^T
//   o_t = S_t (scale q_t)
//
// State: Dv x Dk. Cost per token: recurrent 6 Dv Dk; chunked (C steps per chunk) 4 Dv Dk + 2 C (Dk + Dv) flops, as
// matrix products, and with lambda about 3 * 16 Dk more for the pairs inside secondary chunks (decays.hpp).
#include "variants/kernels/chunked/gated_recurrence_backward.hpp"
#include "variants/kernels/chunked/stored.hpp"
#include "variants/kernels/common/rows.hpp"

namespace recollect::variants {
namespace {

template <class Real> void recurrent(const Call<Real> &call) {
  const Real scale = call.params.real("scale");
  recurrent_rows(
      "gated_linear::recurrent", call, KOKKOS_LAMBDA(const Head<Real> &h, int t, int i, Real *s)->Real {
        const Real alpha = h.alpha[t], *lambda = h.lambda(t), v = h.v(t)[i], *k = h.k(t);
        for (int j = 0; j < h.Dk; ++j) s[j] = alpha * lambda[j] * s[j] + v * k[j];
        return scale * dot(s, h.q(t), h.Dk);
      });
}

template <class Real> GatedRecurrence<Real> as_sum(const Call<Real> &call) {
  const Array<Real> alpha = call.has("alpha") ? call.alpha : Array<Real>(),
                    lambda = call.has("lambda") ? call.lambda : Array<Real>();
  return {call.shape.Dk, call.q, call.k, alpha, lambda, Real(call.params.real("scale"))};
}
template <class Real> void chunked(const Call<Real> &call) {
  gated_recurrence("gated_linear::chunked", call, as_sum(call));
}
template <class Real> void backward(const BackwardCall<Real> &back) {
  GatedRecurrenceGradient<Real> d{back.d.q, back.d.k};
  if (back.call.has("alpha")) d.alpha = back.d.alpha;
  if (back.call.has("lambda")) d.lambda = back.d.lambda;
  gated_recurrence_vjp("gated_linear::backward", back, as_sum(back.call), d);
}

#ifdef KOKKOS_ENABLE_CUDA
template <class Stored> StoredRule stored_rule(const Call<float, Stored> &call) {
  StoredRule rule;
  if (call.has("alpha")) rule.alpha = call.alpha;
  if (call.has("lambda")) rule.lambda = call.lambda;
  rule.scale = float(call.params.real("scale"));
  return rule;
}
template <class Stored> void chunked_stored(const Call<float, Stored> &call) {
  run_16_bits("gated_linear::chunked", call, stored_rule(call));
}
template <class Stored> void backward_stored(const BackwardCall<float, Stored> &back) {
  StoredGradient d;
  if (back.call.has("alpha")) d.alpha = back.d.alpha;
  if (back.call.has("lambda")) d.lambda = back.d.lambda;
  run_16_bits("gated_linear::backward", back, stored_rule(back.call), d);
}
#endif

} // namespace

Variant gated_linear() {
  Variant v;
  v.aliases = {"gla", "gated_linear_attention", "simple_gla"};
  v.family = "gated";
  v.update = "$A_t = alpha_t diag(lambda_t)$, $b_t = v_t$, $phi = identity$";
  v.objective = "$-<S k, v> + 1/2 ||S diag(1 - alpha lambda)^(1/2)||_F^2$";
  v.source = "003 Eq 4, 16; 002 §5; GLA, arXiv:2312.06635";
  v.cost = 6 * cost::Dv * cost::Dk;
  v.params = {tuned(real_param("scale", 1, -no_limit, no_limit, "factor on $q k^T$"), {0.2, 0.05})};
  v.inputs = {{"alpha", false, "decay of the whole state"},
              {"lambda", false, "decay of each key channel; multiplies $alpha$"}};
  v.needs_one_of = {"alpha", "lambda"};
  v.forms = {definition([](const auto &call) { recurrent(call); }),
             fast("chunked", chunked<float>, chunked<double>)
                 .backward(backward<float>, backward<double>)
#ifdef KOKKOS_ENABLE_CUDA
                 .native({chunked_stored<BFloat16>, chunked_stored<Float16>, takes_16_bits})
                 .native_backward({backward_stored<BFloat16>, backward_stored<Float16>, takes_16_bits_back})
                 .packs()
#endif
                 .work(2.5 * cost::Dv * cost::Dk + 130 * cost::Dk + 340)};
  v.traits.zero_key_keeps = true;
  v.traits.repeats = Repeats::sum;
  return v;
}

} // namespace recollect::variants
