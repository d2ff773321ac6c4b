// SPDX-License-Identifier: Apache-2.0
// The recurrence that 004 Eq 4 calls DeltaNet: a delta step of size 1, and a gate on the old state.
//
//   S_t = beta_t S_{t-1} + (v_t - S_{t-1} k_t) k_t^T
//   o_t = S_t q_t
//
// With beta = 1 the layer is DeltaNet with step 1. In this layer beta gates the memory, not the write. State: Dv x Dk.
// Cost per token: recurrent 7 Dv Dk; chunked (C steps per chunk) 6 Dv Dk + C (4 Dk + 3 Dv) flops, as matrix products.
#include "variants/kernels/chunked/delta_rule_backward.hpp"
#include "variants/kernels/chunked/delta_variant.hpp"
#include "variants/kernels/common/rows.hpp"

namespace recollect::variants {
namespace {

template <class Real> void recurrent(const Call<Real> &call) {
  recurrent_rows(
      "scalar_gated_delta::recurrent", call, KOKKOS_LAMBDA(const Head<Real> &h, int t, int i, Real *s)->Real {
        const Real *k = h.k(t), residual = h.v(t)[i] - dot(s, k, h.Dk);
        for (int j = 0; j < h.Dk; ++j) s[j] = h.beta[t] * s[j] + residual * k[j];
        return dot(s, h.q(t), h.Dk);
      });
}

template <class Real> DeltaRule<Real> as_rule(const Call<Real> &call) {
  return {1, call.k, call.k, {}, {}, call.beta, {}};
}
template <class Real> void chunked(const Call<Real> &call) {
  delta_rule("scalar_gated_delta::chunked", call, as_rule(call));
}
template <class Real> void backward(const BackwardCall<Real> &back) {
  delta_rule_vjp("scalar_gated_delta::backward", back, as_rule(back.call), {back.d.q, back.d.k, {}, {}, back.d.beta});
}

} // namespace

Variant scalar_gated_delta() {
  Variant v = delta_variant();
  v.update = "$A_t = beta_t I - k_t k_t^T$, $b_t = v_t$, $phi = identity$";
  v.objective = "$|S k - v|^2 / 2 + (1 - beta_t) |S|_F^2 / 2$, one gradient step of size 1";
  v.source = "004 Eq 4";
  v.cost = 7 * cost::Dv * cost::Dk;
  v.inputs = {{"beta", true, "decay of the whole state"}};
  v.forms = {definition([](const auto &call) { recurrent(call); }),
             fast("chunked", chunked<float>, chunked<double>)
                 .backward(backward<float>, backward<double>)
                 .work(1.85 * cost::Dv * cost::Dk + 95 * cost::Dk)};
  v.traits.zero_step_keeps = false; // beta is a decay
  return v;
}

} // namespace recollect::variants
