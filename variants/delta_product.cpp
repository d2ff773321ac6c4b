// SPDX-License-Identifier: Apache-2.0
// DeltaProduct: several Householder steps per token (003 Eq 26-28; Siems et al. 2025, arXiv:2502.10297).
//
//   S_t^(j) = S_t^(j-1) (I - beta_t x_j x_j^T) + beta_t v_t x_j^T,   j = 1 ... n_h, from S_t^(0) = S_{t-1}
//   o_t = S_t^(n_h) q_t
//
// n_h is the parameter householder. x_j alternates between w_t and k_t, and the last one is k_t. If w is absent, all
// steps use k_t; these are the repeated gradient steps of 003. State: Dv x Dk. Cost per token: recurrent (5 n_h + 2) Dv
// Dk flops; chunked as delta_net on n_h T steps.
#include "variants/kernels/chunked/sub_steps.hpp"
#include "variants/kernels/common/rows.hpp"

namespace recollect::variants {
namespace {

template <class Real> void recurrent(const Call<Real> &call) {
  const int steps = call.params.integer("householder");
  recurrent_rows(
      "delta_product::recurrent", call, KOKKOS_LAMBDA(const Head<Real> &h, int t, int i, Real *s)->Real {
        for (int j = 0; j < steps; ++j) {
          const Real *x = key_of_step(h, t, j, steps), residual = h.v(t)[i] - dot(s, x, h.Dk);
          for (int c = 0; c < h.Dk; ++c) s[c] += h.beta[t] * residual * x[c];
        }
        return dot(s, h.q(t), h.Dk);
      });
}

template <class Real> void chunked(const Call<Real> &call) { delta_steps("delta_product::chunked", call); }
template <class Real> void backward(const BackwardCall<Real> &back) {
  delta_steps_vjp("delta_product::backward", back);
}

} // namespace

Variant delta_product() {
  Variant v = delta_variant();
  v.aliases = {"deltaproduct"};
  v.update = "$A_t = prod_j (I - beta_t x_j x_j^T)$, $b_t k_t^T$ -> sum of $n_h$ rank-one writes, $x = ... k, w, k$; "
             "$phi = identity$";
  v.objective = "$|S k - v|^2 / 2$ and $|S w - v|^2 / 2$, gradient steps of size $beta_t$ in turn";
  v.source = "003 Eq 26-28; Siems et al. 2025 (arXiv:2502.10297)";
  v.cost = (5 * cost::parameter("householder") + 2) * cost::Dv * cost::Dk;
  v.params = {integer_param("householder", 2, 1, 16, "Householder steps per token, $n_h$")};
  v.inputs = {{"beta", true, "step size of every Householder step"},
              {"w", false, "key of every other Householder step; the last step uses k"}};
  v.forms = {definition([](const auto &call) { recurrent(call); }),
             fast("chunked", chunked<float>, chunked<double>)
                 .work(cost::parameter("householder") * (1.5 * cost::Dv * cost::Dk + 85 * cost::Dk))
                 .backward(backward<float>, backward<double>)};
  return v;
}

} // namespace recollect::variants
