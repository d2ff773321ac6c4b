// SPDX-License-Identifier: Apache-2.0
// Gated DeltaNet: the delta rule on a state that decays by a scalar gate (002 §5; 003 Eq 38-41).
//
//   S_t = alpha_t S_{t-1} (I - beta_t k_t k_t^T) + beta_t v_t k_t^T
//   o_t = S_t q_t
//
// Qwen3-Next runs this rule with fewer heads of q and k than of v (--qk-heads). The strength beta may reach 2, as with
// fla's allow_neg_eigval: the eigenvalue alpha (1 - beta |k|^2) may be negative. State: Dv x Dk. Cost per token:
// recurrent 7 Dv Dk; chunked (C steps per chunk) 6 Dv Dk + C (4 Dk + 3 Dv) flops, as matrix products.
#include "variants/kernels/chunked/decay_first.hpp"
#include "variants/kernels/chunked/stored.hpp"
#include "variants/kernels/common/rows.hpp"

namespace recollect::variants {
namespace {

template <class Real> void recurrent(const Call<Real> &call) {
  recurrent_rows(
      "gated_delta_net::recurrent", call, KOKKOS_LAMBDA(const Head<Real> &h, int t, int i, Real *s)->Real {
        const Real *k = h.k(t), alpha = h.alpha[t], write = h.beta[t] * (h.v(t)[i] - alpha * dot(s, k, h.Dk));
        for (int j = 0; j < h.Dk; ++j) s[j] = alpha * s[j] + write * k[j];
        return dot(s, h.q(t), h.Dk);
      });
}

template <class Real> DecayFirst<Real> as_rule(const Call<Real> &call) {
  return {call.k, call.k, call.beta, call.alpha};
}
template <class Real> void chunked(const Call<Real> &call) {
  decay_first("gated_delta_net::chunked", call, as_rule(call));
}
template <class Real> void backward(const BackwardCall<Real> &back) {
  decay_first_vjp("gated_delta_net::backward", back, as_rule(back.call), as_rule(back.d));
}

#ifdef KOKKOS_ENABLE_CUDA
template <class Stored> StoredRule stored_rule(const Call<float, Stored> &call) {
  const Array<float> erase = call.arena->template take<float>(call.steps()), alpha = call.alpha, beta = call.beta;
  parallel_loop(
      "gated_delta_net::erase", call.steps(), KOKKOS_LAMBDA(const size_t t) { erase(t) = alpha(t) * beta(t); });
  return {true, alpha, erase, beta};
}
template <class Stored> void chunked_stored(const Call<float, Stored> &call) {
  run_16_bits("gated_delta_net::chunked", call, stored_rule(call));
}
template <class Stored> void backward_stored(const BackwardCall<float, Stored> &back) {
  const Array<float> d_erase = back.call.arena->template take<float>(back.call.steps());
  run_16_bits("gated_delta_net::backward", back, stored_rule(back.call), {back.d.alpha, d_erase, back.d.beta});
  add_erase_gradient(back.call.alpha, back.call.beta, d_erase, back.d.alpha, back.d.beta);
}
#endif

} // namespace

Variant gated_delta_net() {
  Variant v = delta_variant();
  v.aliases = {"gdn", "gated_deltanet", "gated_delta_rule"};
  v.update = "$A_t = alpha_t (I - beta_t k_t k_t^T)$, $b_t = beta_t v_t$, $phi = identity$";
  v.objective = "$|S k - v|^2 / 2$ + weight decay on $S$: leaky LMS by the map of 003 Eq 38-41";
  v.source = "002 §5; 003 Eq 38-41; Yang, Kautz, Hatamizadeh 2024 (arXiv:2412.06464)";
  v.cost = 7 * cost::Dv * cost::Dk;
  v.inputs = {{"beta", true, "step size of the write"}, {"alpha", true, "decay of the whole state"}};
  v.forms = {definition([](const auto &call) { recurrent(call); }),
             fast("chunked", chunked<float>, chunked<double>)
                 .backward(backward<float>, backward<double>)
#ifdef KOKKOS_ENABLE_CUDA
                 .native({chunked_stored<BFloat16>, chunked_stored<Float16>, takes_16_bits})
                 .native_backward({backward_stored<BFloat16>, backward_stored<Float16>, takes_16_bits_back})
                 .packs()
#endif
                 .work(1.8 * cost::Dv * cost::Dk + 95 * cost::Dk)};
  return v;
}

} // namespace recollect::variants
