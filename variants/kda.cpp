// SPDX-License-Identifier: Apache-2.0
// Kimi delta attention: the delta rule on a state whose key channels decay, each by its own factor, before the error is
// taken (Kimi Team 2025, arXiv:2510.26692; the order is that of fla's recurrence, fla/ops/kda/naive.py).
//
//   S'_t = S_{t-1} diag(lambda_t)
//   S_t  = S'_t + beta_t (v_t - S'_t k_t) k_t^T
//   o_t  = S_t q_t
//
// With the same lambda_t in every channel it is gated_delta_net. In the terms of delta_rule.hpp, the key that is read is
// lambda_t . k_t and the direction that is written is k_t. State: Dv x Dk. Cost per token: recurrent 7 Dv Dk; chunked
// 6 Dv Dk + C (4 Dk + 3 Dv) flops, as matrix products, and about 3 * 16 Dk more for the pairs inside secondary chunks.
#include "variants/kernels/chunked/delta_rule_backward.hpp"
#include "variants/kernels/common/arrays.hpp"
#include "variants/kernels/common/rows.hpp"

namespace recollect::variants {
namespace {

template <class Real> void recurrent(const Call<Real> &call) {
  recurrent_rows(
      "kda::recurrent", call, KOKKOS_LAMBDA(const Head<Real> &h, int t, int i, Real *s)->Real {
        const Real *k = h.k(t), *lambda = h.lambda(t);
        for (int j = 0; j < h.Dk; ++j) s[j] = lambda[j] * s[j];
        const Real write = h.beta[t] * (h.v(t)[i] - dot(s, k, h.Dk));
        for (int j = 0; j < h.Dk; ++j) s[j] += write * k[j];
        return dot(s, h.q(t), h.Dk);
      });
}

/// [B,H,T,Dk] lambda_t . k_t
template <class Real> Array<Real> decayed_keys(const Call<Real> &call) {
  const Array<Real> out = allocate(call, call.k.extent(0)), k = call.k, lambda = call.lambda;
  Kokkos::parallel_for(
      "kda::decayed_keys", over(out.extent(0)), KOKKOS_LAMBDA(const size_t i) { out(i) = lambda(i) * k(i); });
  return out;
}
template <class Real> DeltaRule<Real> as_rule(const Call<Real> &call) {
  return {1, decayed_keys(call), call.k, call.beta, call.beta, {}, call.lambda};
}
template <class Real> void chunked(const Call<Real> &call) { delta_rule("kda::chunked", call, as_rule(call)); }
template <class Real> void backward(const Pullback<Real> &back) {
  const Array<Real> d_erase = allocate(back.call, back.call.steps()),
                    d_read = allocate(back.call, back.call.k.extent(0)), k = back.call.k, lambda = back.call.lambda,
                    d_k = back.d.k, d_lambda = back.d.lambda, d_beta = back.d.beta;
  delta_rule_vjp("kda::backward", back, as_rule(back.call), {back.d.q, d_k, d_erase, d_beta, {}, d_read, d_lambda});
  Kokkos::parallel_for(
      "kda::keys", over(d_read.extent(0)), KOKKOS_LAMBDA(const size_t i) {
        d_k(i) += lambda(i) * d_read(i);
        d_lambda(i) += k(i) * d_read(i);
      });
  Kokkos::parallel_for(
      "kda::strengths", over(d_erase.extent(0)), KOKKOS_LAMBDA(const size_t t) { d_beta(t) += d_erase(t); });
}

} // namespace

Variant kda() {
  Variant v;
  v.aliases = {"kimi_delta_attention"};
  v.family = "delta rule";
  v.update = "$A_t = diag(lambda_t) (I - beta_t k_t k_t^T)$, $b_t = beta_t v_t$, $phi = identity$";
  v.objective = "$|S' k - v|^2 / 2$, one gradient step of size $beta_t$ from the decayed state $S' = S diag(lambda_t)$";
  v.source = "Kimi Team 2025 (arXiv:2510.26692)";
  v.differs = "no convolutions, no normalisation of q and k, no gate on the output";
  v.cost = 7 * cost::Dv * cost::Dk;
  v.inputs = {{"beta", true, "step size of the write"}, {"lambda", true, "decay of each key channel"}};
  v.forms = {definition([](const auto &call) { recurrent(call); }), {"chunked", chunked<float>, chunked<double>}};
  v.forms.back().vjp = {backward<float>, backward<double>};
  v.forms.back().work = on_one_thread(3.2 * cost::Dv * cost::Dk + 145 * cost::Dk);
  v.traits.zero_step_keeps = true;
  v.traits.zero_key_keeps = true;
  v.traits.repeats = Repeats::last;
  return v;
}

} // namespace recollect::variants
