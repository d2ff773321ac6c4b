// SPDX-License-Identifier: Apache-2.0
// Kimi delta attention: the delta rule on a state whose key channels decay, each by its own factor, before the error is
// taken (Kimi Team 2025, arXiv:2510.26692; the order of decay and erasure follows fla/ops/kda/naive.py).
//
//   S'_t = S_{t-1} diag(lambda_t)
//   S_t  = S'_t + beta_t (v_t - S'_t k_t) k_t^T
//   o_t  = S_t q_t
//
// With one lambda_t for all channels the layer is gated_delta_net. State: Dv x Dk. Cost per token: recurrent 7 Dv Dk;
// chunked (C steps per chunk) 6 Dv Dk + C (4 Dk + 3 Dv) flops, as matrix products, and about 3 * 16 Dk more for the
// pairs inside secondary chunks (decays.hpp).
#include "variants/kernels/chunked/decay_first.hpp"
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

template <class Real> DecayFirst<Real> as_rule(const Call<Real> &call) {
  return {call.k, call.k, call.beta, {}, call.lambda};
}
template <class Real> void chunked(const Call<Real> &call) { decay_first("kda::chunked", call, as_rule(call)); }
template <class Real> void backward(const BackwardCall<Real> &back) {
  decay_first_vjp("kda::backward", back, as_rule(back.call), as_rule(back.d));
}

} // namespace

Variant kda() {
  Variant v = delta_variant();
  v.aliases = {"kimi_delta_attention"};
  v.update = "$A_t = diag(lambda_t) (I - beta_t k_t k_t^T)$, $b_t = beta_t v_t$, $phi = identity$";
  v.objective = "$|S' k - v|^2 / 2$, one gradient step of size $beta_t$ from the decayed state $S' = S diag(lambda_t)$";
  v.source = "Kimi Team 2025 (arXiv:2510.26692)";
  v.differs = "no convolutions, no normalisation of q and k, no gate on the output";
  v.cost = 7 * cost::Dv * cost::Dk;
  v.inputs = {{"beta", true, "step size of the write"}, {"lambda", true, "decay of each key channel"}};
  v.forms = {definition([](const auto &call) { recurrent(call); }),
             fast("chunked", chunked<float>, chunked<double>)
                 .backward(backward<float>, backward<double>)
                 .work(3.2 * cost::Dv * cost::Dk + 145 * cost::Dk)};
  return v;
}

} // namespace recollect::variants
