// SPDX-License-Identifier: Apache-2.0
// Gated DeltaNet-2: Kimi delta attention with separate strengths for erasing and for writing, per channel
// (arXiv:2605.22791; the order of decay and erasure follows fla/ops/gdn2/naive.py).
//
//   S'_t = S_{t-1} diag(lambda_t)
//   S_t  = S'_t + beta_t (v_t - S'_t w_t) k_t^T
//   o_t  = S_t q_t
//
// The source erases along b_t * k_t and writes w_t * v_t (element-wise), with Dk erase strengths b_t and Dv write
// strengths w_t. In this file, w_t is the erase key b_t * k_t, v_t has already been multiplied by its write strengths,
// and beta_t multiplies both kinds of strengths; it is 1 in the source. With w_t = k_t the layer is kda. State: Dv x
// Dk. Cost per token: recurrent 7 Dv Dk; chunked (C steps per chunk) 6 Dv Dk + C (4 Dk + 3 Dv) flops, as matrix
// products, and about 3 * 16 Dk more for the pairs inside secondary chunks (decays.hpp).
#include "variants/kernels/chunked/decay_first.hpp"
#include "variants/kernels/common/rows.hpp"

namespace recollect::variants {
namespace {

template <class Real> void recurrent(const Call<Real> &call) {
  recurrent_rows(
      "gated_delta_net2::recurrent", call, KOKKOS_LAMBDA(const Head<Real> &h, int t, int i, Real *s)->Real {
        const Real *k = h.k(t), *lambda = h.lambda(t);
        for (int j = 0; j < h.Dk; ++j) s[j] = lambda[j] * s[j];
        const Real write = h.beta[t] * (h.v(t)[i] - dot(s, h.w(t), h.Dk));
        for (int j = 0; j < h.Dk; ++j) s[j] += write * k[j];
        return dot(s, h.q(t), h.Dk);
      });
}

template <class Real> DecayFirst<Real> as_rule(const Call<Real> &call) {
  return {call.w, call.k, call.beta, {}, call.lambda};
}
template <class Real> void chunked(const Call<Real> &call) {
  decay_first("gated_delta_net2::chunked", call, as_rule(call));
}
template <class Real> void backward(const BackwardCall<Real> &back) {
  decay_first_vjp("gated_delta_net2::backward", back, as_rule(back.call), as_rule(back.d));
}

} // namespace

Variant gated_delta_net2() {
  Variant v = delta_variant();
  v.aliases = {"gdn2", "gdn_2", "gated_deltanet2"};
  v.update = "$A_t = diag(lambda_t) (I - beta_t w_t k_t^T)$, $b_t = beta_t v_t$, $phi = identity$";
  v.source = "arXiv:2605.22791, as in fla/ops/gdn2/naive.py";
  v.differs = "$w$ is the erase key $b * k$; $v$ has been multiplied by its write strengths; no convolutions, no "
              "normalisation of $q$ and $k$, no gate on the output";
  v.cost = 7 * cost::Dv * cost::Dk;
  v.inputs = {{"beta", false, "factor on erase and write strengths"},
              {"lambda", true, "decay of each key channel"},
              {"w", false, "erase key: the key times its erase strengths"}};
  v.forms = {definition([](const auto &call) { recurrent(call); }),
             fast("chunked", chunked<float>, chunked<double>)
                 .backward(backward<float>, backward<double>)
                 .work(3.2 * cost::Dv * cost::Dk + 145 * cost::Dk)};
  return v;
}

} // namespace recollect::variants
