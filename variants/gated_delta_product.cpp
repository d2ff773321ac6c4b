// SPDX-License-Identifier: Apache-2.0
// Gated DeltaProduct: one decay and then several Householder steps per token (Siems et al. 2025, arXiv:2502.10297; the
// order of decay and steps follows fla/ops/gated_delta_product/naive.py).
//
//   S_t^(0) = alpha_t S_{t-1}
//   S_t^(j) = S_t^(j-1) (I - beta_t x_j x_j^T) + beta_t v_t x_j^T,   j = 1 ... n_h
//   o_t = S_t^(n_h) q_t
//
// n_h is the parameter householder. As in delta_product, x_j alternates between w_t and k_t, and the last one is k_t;
// the source has a key, a value and a beta for each step. With n_h = 1 the layer is gated_delta_net; with alpha = 1 it
// is delta_product. State: Dv x Dk. Cost per token: recurrent (4 n_h + 3) Dv Dk flops; chunked as gated_delta_net on
// n_h T steps.
#include "variants/kernels/chunked/sub_steps.hpp"
#include "variants/kernels/common/rows.hpp"

namespace recollect::variants {
namespace {

template <class Real> void recurrent(const Call<Real> &call) {
  const int steps = call.params.integer("householder");
  recurrent_rows(
      "gated_delta_product::recurrent", call, KOKKOS_LAMBDA(const Head<Real> &h, int t, int i, Real *s)->Real {
        for (int c = 0; c < h.Dk; ++c) s[c] = h.alpha[t] * s[c];
        for (int j = 0; j < steps; ++j) {
          const Real *x = key_of_step(h, t, j, steps), write = h.beta[t] * (h.v(t)[i] - dot(s, x, h.Dk));
          for (int c = 0; c < h.Dk; ++c) s[c] += write * x[c];
        }
        return dot(s, h.q(t), h.Dk);
      });
}

template <class Real> void chunked(const Call<Real> &call) { delta_steps("gated_delta_product::chunked", call); }
template <class Real> void backward(const BackwardCall<Real> &back) {
  delta_steps_vjp("gated_delta_product::backward", back);
}

} // namespace

Variant gated_delta_product() {
  Variant v = delta_variant();
  v.aliases = {"gated_deltaproduct", "gdp"};
  v.update = "$A_t = alpha_t prod_j (I - beta_t x_j x_j^T)$, $b_t k_t^T$ -> sum of $n_h$ rank-one writes, $x = ... k, "
             "w, k$; $phi = identity$";
  v.objective =
      "$|S k - v|^2 / 2$ and $|S w - v|^2 / 2$, gradient steps of size $beta_t$ in turn from the decayed state";
  v.source = "Siems et al. 2025 (arXiv:2502.10297), as in fla/ops/gated_delta_product/naive.py";
  v.differs = "the steps of a token share its value and its $beta$, and their keys are $k$ and $w$ in turn";
  v.cost = (4 * cost::parameter("householder") + 3) * cost::Dv * cost::Dk;
  v.params = {integer_param("householder", 2, 1, 16, "Householder steps per token, $n_h$")};
  v.inputs = {{"beta", true, "step size of every Householder step"},
              {"alpha", true, "decay of the whole state, once per token"},
              {"w", false, "key of every other Householder step; the last step uses k"}};
  v.forms = {definition([](const auto &call) { recurrent(call); }),
             fast("chunked", chunked<float>, chunked<double>)
                 .backward(backward<float>, backward<double>)
                 .work(cost::parameter("householder") * (1.9 * cost::Dv * cost::Dk + 95 * cost::Dk))};
  return v;
}

} // namespace recollect::variants
