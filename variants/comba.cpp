// SPDX-License-Identifier: Apache-2.0
// Comba: the gated delta rule with a separate erase key, which also corrects the query (arXiv:2506.02475; the order of
// decay and erasure follows fla/ops/comba/naive.py, the correction follows fla/layers/comba.py).
//
//   S'_t = alpha_t S_{t-1}
//   S_t  = S'_t + beta_t (v_t - S'_t w_t) k_t^T
//   o_t  = S_t (q_t - d w_t)
//
// The source's erase key is w_t = b k_t, with one b in [0,1] per head. With w_t = k_t and d = 0 the layer is
// gated_delta_net. State: Dv x Dk. Cost per token: recurrent 7 Dv Dk; chunked (C steps per chunk) 6 Dv Dk + C (4 Dk + 3
// Dv) flops, as matrix products.
#include "variants/kernels/chunked/decay_first.hpp"
#include "variants/kernels/common/rows.hpp"

namespace recollect::variants {
namespace {

/// The call with q_t - d w_t in place of q_t.
template <class Real> Call<Real> corrected(Call<Real> call) {
  const Real d = call.params.real("d");
  const Array<Real> q = call.q, w = call.w, out = allocate(call, call.q.extent(0));
  parallel_loop(
      "comba::queries", out.extent(0), KOKKOS_LAMBDA(const size_t i) { out(i) = q(i) - d * w(i); });
  call.q = out;
  return call;
}

template <class Real> void recurrent(const Call<Real> &call) {
  recurrent_rows(
      "comba::recurrent", corrected(call), KOKKOS_LAMBDA(const Head<Real> &h, int t, int i, Real *s)->Real {
        const Real *k = h.k(t), alpha = h.alpha[t], write = h.beta[t] * (h.v(t)[i] - alpha * dot(s, h.w(t), h.Dk));
        for (int j = 0; j < h.Dk; ++j) s[j] = alpha * s[j] + write * k[j];
        return dot(s, h.q(t), h.Dk);
      });
}
template <class Real> DecayFirst<Real> as_rule(const Call<Real> &call) {
  return {call.w, call.k, call.beta, call.alpha};
}
template <class Real> void chunked(const Call<Real> &call) {
  decay_first("comba::chunked", corrected(call), as_rule(call));
}
template <class Real> void backward(const BackwardCall<Real> &back) {
  const BackwardCall<Real> reads{corrected(back.call), back.d};
  decay_first_vjp("comba::backward", reads, as_rule(back.call), as_rule(back.d));
  add(back.d.q, back.d.w, -back.call.params.real("d"));
}

} // namespace

Variant comba() {
  Variant v = delta_variant();
  v.update = "$A_t = alpha_t (I - beta_t w_t k_t^T)$, $b_t = beta_t v_t$, $phi(q_t) = q_t - d w_t$";
  v.source = "arXiv:2506.02475, as in fla/ops/comba/naive.py and fla/layers/comba.py";
  v.differs = "the erase key $w$ is an input, and in the source a multiple of $k$; $d$ is 0 by default, and the source "
              "initialises it to 1 or 0.02";
  v.cost = 7 * cost::Dv * cost::Dk;
  v.params = {tuned(real_param("d", 0, -no_limit, no_limit, "share of the erase key that is subtracted from the query"),
                    {0.02, 1})};
  v.inputs = {
      {"beta", true, "step size of the write"}, {"alpha", true, "decay of the whole state"}, {"w", false, "erase key"}};
  v.forms = {definition([](const auto &call) { recurrent(call); }), fast("chunked", chunked<float>, chunked<double>)
                                                                        .backward(backward<float>, backward<double>)
                                                                        .work(2 * cost::Dv * cost::Dk + 95 * cost::Dk)};
  return v;
}

} // namespace recollect::variants
