// SPDX-License-Identifier: Apache-2.0
// Leaky least mean squares: one gradient step per token on the squared error with an L2 penalty on S (003 Eq 34-37).
//
//   S_t = alpha_t S_{t-1} + beta_t (v_t - S_{t-1} k_t) k_t^T,   alpha_t = 1 - beta_t lambda_t
//   o_t = S_t q_t
//
// lambda_t is the weight of the penalty. The layer is Gated DeltaNet with beta / alpha in place of beta, and alpha v in
// place of v (003 Eq 38-41). State: Dv x Dk. Cost per token: recurrent 7 Dv Dk; chunked (C steps per chunk) 6 Dv Dk + C
// (4 Dk + 3 Dv) flops, as matrix products.
#include "variants/kernels/chunked/delta_rule_backward.hpp"
#include "variants/kernels/chunked/delta_variant.hpp"
#include "variants/kernels/common/elementwise.hpp"
#include "variants/kernels/common/rows.hpp"

namespace recollect::variants {
namespace {

template <class Real> void recurrent(const Call<Real> &call) {
  recurrent_rows(
      "leaky_lms::recurrent", call, KOKKOS_LAMBDA(const Head<Real> &h, int t, int i, Real *s)->Real {
        const Real *k = h.k(t), write = h.beta[t] * (h.v(t)[i] - dot(s, k, h.Dk));
        for (int j = 0; j < h.Dk; ++j) s[j] = h.alpha[t] * s[j] + write * k[j];
        return dot(s, h.q(t), h.Dk);
      });
}

template <class Real> DeltaRule<Real> as_rule(const Call<Real> &call) {
  return {1, call.k, call.k, call.beta, call.beta, call.alpha, {}};
}
template <class Real> void chunked(const Call<Real> &call) { delta_rule("leaky_lms::chunked", call, as_rule(call)); }
template <class Real> void backward(const BackwardCall<Real> &back) {
  const Array<Real> d_erase = allocate(back.call, back.call.steps()), d_beta = back.d.beta;
  delta_rule_vjp("leaky_lms::backward", back, as_rule(back.call), {back.d.q, back.d.k, d_erase, d_beta, back.d.alpha});
  add(d_erase, d_beta);
}

} // namespace

Variant leaky_lms() {
  Variant v = delta_variant();
  v.update = "$A_t = alpha_t I - beta_t k_t k_t^T$, $b_t = beta_t v_t$, $phi = identity$";
  v.objective =
      "$|S k - v|^2 / 2 + lambda |S|_F^2 / 2$, one gradient step of size $beta_t$; $alpha_t = 1 - beta_t lambda_t$";
  v.source = "003 Eq 34-37";
  v.cost = 7 * cost::Dv * cost::Dk;
  v.inputs = {{"beta", true, "step size of the write"}, {"alpha", true, "decay $1 - beta lambda$ of the whole state"}};
  v.forms = {definition([](const auto &call) { recurrent(call); }),
             fast("chunked", chunked<float>, chunked<double>)
                 .backward(backward<float>, backward<double>)
                 .work(1.8 * cost::Dv * cost::Dk + 105 * cost::Dk)};
  return v;
}

} // namespace recollect::variants
