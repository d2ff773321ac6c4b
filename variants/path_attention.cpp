// SPDX-License-Identifier: Apache-2.0
// PaTH attention: softmax attention whose keys pass through the reflections of all later steps (Yang et al. 2025,
// arXiv:2505.16381; the formula follows the reference in fla's tests/ops/test_path_attn.py).
//
//   o_t = sum_{i<=t} softmax_i(scale q_t^T H_t H_{t-1} ... H_{i+1} k_i) v_i,   H_j = I - beta_j w_j w_j^T
//
// The recurrent form stores every key as reflected by all steps after it so far. No finite state. Cost of token t: t (6
// Dk + 2 Dv) flops.
#include "variants/kernels/attention/reflected_keys.hpp"
#include "variants/kernels/attention/reflected_keys_backward.hpp"
#include <cmath>

namespace recollect::variants {
namespace {

template <class Real> Real scale_of(const Call<Real> &call) {
  return Real(call.params.real_or("scale", 1 / std::sqrt(double(call.shape.Dk))));
}

template <class Real> void recurrent(const Call<Real> &call) {
  const Real scale = scale_of(call);
  each_head(
      "path_attention::recurrent", call, size_t(call.shape.T) * (call.shape.Dk + 1),
      KOKKOS_LAMBDA(const Team &team, const Head<Real> &h) {
        Real *const keys = h.work, *const p = keys + size_t(h.T) * h.Dk;
        for (int t = 0; t < h.T; ++t) {
          const Real *q = h.q(t), *w = h.w(t), beta = h.beta[t];
          each(team, t + 1, [=](int i) {
            Real *const key = keys + size_t(i) * h.Dk;
            const Real along = i < t ? beta * dot(key, w, h.Dk) : Real(0);
            for (int j = 0; j < h.Dk; ++j) key[j] = i < t ? key[j] - along * w[j] : h.k(t)[j];
            p[i] = scale * dot(key, q, h.Dk);
          });
          team.barrier();
          soften(team, t + 1, p);
          team.barrier();
          each(team, h.Dv, [=](int c) {
            Real sum = 0;
            for (int i = 0; i <= t; ++i) sum += p[i] * h.v(i)[c];
            h.o(t)[c] = sum;
          });
          team.barrier();
        }
      });
}

template <class Real> void chunked(const Call<Real> &call) {
  const size_t T = call.shape.T, D = call.shape.Dk, C = call.chunk;
  each_head("path_attention::chunked", call, T * D + C * T + 2 * C * D + 3 * C * C,
            ReflectedKeys<Real>{scale_of(call)});
}
template <class Real> void backward(const BackwardCall<Real> &back) {
  reflected_keys_vjp("path_attention::backward", back, scale_of(back.call));
}

} // namespace

Variant path_attention() {
  Variant v = attention_variant();
  v.aliases = {"path", "path_attn"};
  v.family = "delta + kernel";
  v.update = "$o_t = sum_{i<=t} softmax_i(scale q_t^T H_t ... H_{i+1} k_i) v_i$, $H_j = I - beta_j w_j w_j^T$";
  v.source = "Yang et al. 2025 (arXiv:2505.16381), as in fla's tests/ops/test_path_attn.py";
  v.differs = "$w$ is used as given, whereas the source scales it to unit length; no forget gate";
  v.cost = {cost::t * (6 * cost::Dk + 2 * cost::Dv), cost::t};
  v.params = {tuned(automatic_param("scale", "1/sqrt(Dk)", -no_limit, no_limit, "factor on the logits"), {1, 4, 16})};
  v.inputs = {{"beta", false, "strength of the step's reflection; 2: a full reflection if $w$ has length 1"},
              {"w", false, "direction of the step's reflection"}};
  v.forms = {definition([](const auto &call) { recurrent(call); }),
             fast("chunked", chunked<float>, chunked<double>).backward(backward<float>, backward<double>)};
  v.traits.order_invariant = false;
  return v;
}

} // namespace recollect::variants
