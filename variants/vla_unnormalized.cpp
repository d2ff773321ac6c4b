// SPDX-License-Identifier: Apache-2.0
// Variational linear attention without its two normalisations, VLAv2 (004 §3.3, Table 2; Eq 6 with A_t the penalty's
// inverse).
//
//   A_t = (lambda0 I + sum_{i<=t} u_i u_i^T)^{-1} by Sherman-Morrison, eta I added every `refresh` steps
//   S_t = S_{t-1} + (v_t - S_{t-1} x_t) (A_t x_t)^T,   x_t = phi(k_t)
//   o_t = S_t q_t (phi the identity), or divided by the normaliser as in vla (phi = elu + 1)
//
// u_t is w_t, or k_t if w is absent. If u = k, the layer is rls with ridge lambda0, except for the refresh. For other u
// nothing bounds the step size x . A x, and it may exceed 2. With elu features, |x|^2 is about 2 Dk, and the state
// overflows within tens of steps, as 004 reports. State: (Dv + Dk + 2) x Dk: S, A, the sum of phi(k), and a step count.
// The cost is that of vla. See variational.hpp.
#include "variants/kernels/regression/variational_backward.hpp"

namespace recollect::variants {
namespace {

template <class Real> void recurrent(const Call<Real> &call) {
  variational_recurrent("vla_unnormalized::recurrent", call, false);
}
template <class Real> void chunked(const Call<Real> &call) {
  variational_chunked("vla_unnormalized::chunked", call, false);
}
template <class Real> void backward(const BackwardCall<Real> &back) {
  variational_backward("vla_unnormalized::backward", back, false);
}

} // namespace

Variant vla_unnormalized() {
  Variant v;
  v.family = "exact regression";
  v.update =
      "$A_t = I - x_t a_t^T$, $b_t k_t^T -> v_t a_t^T$, $a_t = (lambda0 I + sum u u^T)^{-1} x_t$, $phi = identity$";
  v.objective = "$sum_i |S k_i - v_i|^2 / 2 + lambda0 |S|_F^2 / 2$, minimised exactly, where $u = k$";
  v.source = "004 Eq 6, §3.3, Table 2";
  v.cost = 6 * cost::Dv * cost::Dk + 6 * cost::Dk * cost::Dk;
  v.params = {tuned(real_param("lambda0", 0.1, 1e-12, 1e12, "penalty at the start; $A$ starts at $I / lambda0$"),
                    {0.001, 0.01, 1}),
              integer_param("refresh", 20, 0, 1e6, "steps between two additions of $eta I$ to $A$; 0: never"),
              real_param("eta", 1e-3, 0, 1e6, "what a refresh adds to the diagonal of $A$"),
              choice_param("phi", {"identity", "elu"},
                           "feature map; with elu the output is divided by the normaliser, as in vla"),
              real_param("u_norm", 0, 0, 1e6, "length of $u$; 0: the length of w")};
  v.inputs = {{"w", false, "penalty direction $u$"}};
  v.forms = {definition([](const auto &call) { recurrent(call); }),
             fast("chunked", chunked<float>, chunked<double>)
                 .backward(backward<float>, backward<double>)
                 .work(5.2 * cost::Dk * cost::Dk + 61 * cost::Dk + 33 * cost::Dv + 1050)};
  v.layout = "S [Dv,Dk], A [Dk,Dk], sum of features [1,Dk], steps since the last refresh [1,Dk] (the first element)";
  v.symmetric = "A";
  v.state_shape = variational_state;
  v.initial_state = variational_start;
  return v;
}

} // namespace recollect::variants
