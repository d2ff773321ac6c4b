// SPDX-License-Identifier: Apache-2.0
// Preconditioned gated delta rule: what is written along a key channel is scaled by how much that channel has been used
// (arXiv:2604.21100; the recurrence follows fla/ops/precond_gated_delta_rule/naive.py).
//
//   A_t  = lambda_t * A_{t-1} + k_t * k_t,   M_t = base^{-s(log(A_t + eps) - center)},   s(r) = r / (1 + |r|)
//   S'_t = alpha_t S_{t-1}
//   S_t  = S'_t + beta_t (v_t - S'_t k_t) (M_t * k_t)^T
//   o_t  = S_t q_t
//
// * and powers are element-wise. In the source A has a scalar decay and a step size; here each channel has a decay, and
// the step size is 1. With base = 1 the layer is gated_delta_net. State: (Dv + 1) x Dk: S, then A. Cost per token:
// recurrent 7 Dv Dk + 14 Dk; chunked (C steps per chunk) 6 Dv Dk + C (4 Dk + 3 Dv) flops, as matrix products.
#include "variants/kernels/chunked/decay_first.hpp"
#include "variants/kernels/common/preconditioner.hpp"
#include "variants/kernels/common/rows.hpp"

namespace recollect::variants {
namespace {

template <class Real> void recurrent(const Call<Real> &call) {
  const Array<Real> keys = precondition(call, true).keys;
  recurrent_rows(
      "preconditioned_delta::recurrent", call, KOKKOS_LAMBDA(const Head<Real> &h, int t, int i, Real *s)->Real {
        const Real *p = keys.data() + (h.index * h.T + t) * h.Dk, alpha = h.alpha[t];
        const Real write = h.beta[t] * (h.v(t)[i] - alpha * dot(s, h.k(t), h.Dk));
        for (int j = 0; j < h.Dk; ++j) s[j] = alpha * s[j] + write * p[j];
        return dot(s, h.q(t), h.Dk);
      });
}
template <class Real> void chunked(const Call<Real> &call) {
  const Array<Real> keys = precondition(call, true).keys;
  decay_first("preconditioned_delta::chunked", call, {call.k, keys, call.beta, call.alpha});
}
template <class Real> void backward(const BackwardCall<Real> &back) {
  const Call<Real> &call = back.call;
  const Preconditioned<Real> made = precondition(call, false);
  const Array<Real> d_p = allocate(call, call.k.extent(0));
  decay_first_vjp("preconditioned_delta::backward", back, {call.k, made.keys, call.beta, call.alpha},
                  {back.d.k, d_p, back.d.beta, back.d.alpha});
  precondition_vjp(back, made, d_p);
}

} // namespace

Variant preconditioned_delta() {
  Variant v;
  v.aliases = {"preconditioned_gated_delta_rule", "precond_gated_delta_rule", "preconditioned_deltanet", "pgdn"};
  v.family = "delta rule";
  v.update =
      "$A_t = alpha_t (I - beta_t k_t (M_t * k_t)^T)$, $b_t k_t^T -> beta_t v_t (M_t * k_t)^T$, $phi = identity$";
  v.objective = "$|S k - v|^2 / 2$, one gradient step of size $beta_t$, scaled by channel, from the decayed state";
  v.source = "arXiv:2604.21100, as in fla/ops/precond_gated_delta_rule/naive.py";
  v.differs = "the decay of $A$ may differ by channel, and the step size of $A$ is 1; no normalisation of $q$ and $k$";
  v.cost = {7 * cost::Dv * cost::Dk + 14 * cost::Dk, 2 * cost::Dk};
  v.params = {tuned(real_param("base", 1.5, 1, 1e6, "base of the scale, which lies in $[1 / base, base]$"), {1, 4}),
              real_param("center", -0.2, -no_limit, no_limit, "$log A$ at which the scale is 1"),
              real_param("eps", 1e-6, 1e-30, 1, "added to $A$ before the logarithm is taken")};
  v.inputs = {{"beta", true, "step size of the write"},
              {"alpha", true, "decay of the whole state"},
              {"lambda", false, "decay of the channels of $A$"}};
  v.forms = {definition([](const auto &call) { recurrent(call); }),
             fast("chunked", chunked<float>, chunked<double>)
                 .backward(backward<float>, backward<double>)
                 .work(2 * cost::Dv * cost::Dk + 130 * cost::Dk)};
  v.layout = "S [Dv,Dk], A [1,Dk]";
  v.state_shape = [](const Shape &s, const Params &) { return StateShape{s.Dv + 1, s.Dk}; };
  v.traits.zero_key_keeps = true;
  return v;
}

} // namespace recollect::variants
