// SPDX-License-Identifier: Apache-2.0
// The delta rule on a state that decays before the error is computed:
//
//   S'_t = S_{t-1} D_t,   S_t = S'_t + beta_t (v_t - S'_t r_t) p_t^T,   D_t = alpha_t, diag(lambda_t) or 1
//
// In the terms of delta_rule.hpp, its erase strength is alpha_t beta_t, or, with lambda, its read key is diag(lambda_t)
// r_t.
#pragma once
#include "variants/kernels/chunked/delta_rule_backward.hpp"
#include "variants/kernels/chunked/delta_variant.hpp"
#include "variants/kernels/common/elementwise.hpp"

namespace recollect::variants {

template <class Real> struct DecayFirst {
  Array<Real> r, p;                    // [B,H,T,Dk]; r and p may be one array
  Array<Real> beta;                    // [B,H,T]
  Array<Real> alpha = {}, lambda = {}; // [B,H,T]; [B,H,T,Dk]. At most one of the two is given
};

template <class Real> DeltaRule<Real> as_delta_rule(const Call<Real> &call, const DecayFirst<Real> &in) {
  if (in.lambda.extent(0)) return {1, products(call, in.lambda, in.r), in.p, in.beta, in.beta, {}, in.lambda};
  if (in.alpha.extent(0)) return {1, in.r, in.p, products(call, in.alpha, in.beta), in.beta, in.alpha, {}};
  return {1, in.r, in.p, in.beta, in.beta, {}, {}};
}

template <class Real> void decay_first(const std::string &label, const Call<Real> &call, const DecayFirst<Real> &in) {
  delta_rule(label, call, as_delta_rule(call, in));
}

/// Adds to d_alpha and d_beta the gradients that pass through the erase strength alpha beta. The array alpha may be
/// empty.
template <class Real>
void add_erase_gradient(const Array<Real> &alpha, const Array<Real> &beta, const Array<Real> &d_erase,
                        const Array<Real> &d_alpha, const Array<Real> &d_beta) {
  const bool decays = alpha.extent(0);
  parallel_loop(
      "decay_first::erase_gradient", d_erase.extent(0), KOKKOS_LAMBDA(const size_t t) {
        if (decays) d_alpha(t) += beta(t) * d_erase(t);
        d_beta(t) += (decays ? alpha(t) : Real(1)) * d_erase(t);
      });
}

/// Gradients of decay_first(back.call): writes the arrays of d, and back.d.q, back.d.v and back.d.state. If r and p are
/// one array, it receives the sum of their gradients. A layer makes d from back.d with the same function that makes
/// `in` from back.call.
template <class Real>
void decay_first_vjp(const std::string &label, const BackwardCall<Real> &back, const DecayFirst<Real> &in,
                     const DecayFirst<Real> &d) {
  const bool channels = in.lambda.extent(0), one_key = in.r.data() == in.p.data();
  const Array<Real> d_erase = allocate(back.call, back.call.steps()), d_read = channels
                                                                                   ? allocate(back.call, in.r.extent(0))
                                                                               : one_key ? Array<Real>()
                                                                                         : d.r;
  delta_rule_vjp(label, back, as_delta_rule(back.call, in),
                 {back.d.q, d.p, d_erase, d.beta, d.alpha, d_read, d.lambda});
  add_erase_gradient(channels ? Array<Real>() : in.alpha, in.beta, d_erase, d.alpha, d.beta);
  if (!channels) return;
  const Array<Real> r = in.r, lambda = in.lambda, d_r = d.r, d_lambda = d.lambda;
  parallel_loop(
      "decay_first::read_key_gradient", d_read.extent(0), KOKKOS_LAMBDA(const size_t i) {
        d_r(i) = (one_key ? d_r(i) : Real(0)) + lambda(i) * d_read(i);
        d_lambda(i) += r(i) * d_read(i);
      });
}

} // namespace recollect::variants
