// SPDX-License-Identifier: Apache-2.0
// Variational linear attention, VLAv3 (004 Algorithm 1): a delta rule that writes along A_t x_t, which turns away from
// penalised directions.
//
//   A_t = (lambda0 I + sum_{i<=t} u_i u_i^T)^{-1} by Sherman-Morrison, eta I added every `refresh` steps
//   S_t = S_{t-1} + (v_t - S_{t-1} x_t) a_t^T,   x_t = phi(k_t) / |phi(k_t)|,   a_t = A_t x_t / |A_t x_t|
//   o_t = S_t phi(q_t) / max(phi(q_t) . sum_{i<=t} phi(k_i), 1e-4),   phi = elu + 1
//
// u_t is w_t (k_t, if w is absent), scaled to length u_norm. State: (Dv + Dk + 2) x Dk: S, A, the sum of phi(k), and a
// step count. Cost per token: recurrent 6 Dv Dk + 6 Dk^2; chunked (C steps per chunk) 6 Dv Dk + 6 Dk^2 + C (3 Dv + 11
// Dk) flops, as matrix products. See variational.hpp.
#include "variants/kernels/regression/variational_backward.hpp"

namespace recollect::variants {
namespace {

template <class Real> void recurrent(const Call<Real> &call) { variational_recurrent("vla::recurrent", call, true); }
template <class Real> void chunked(const Call<Real> &call) { variational_chunked("vla::chunked", call, true); }
template <class Real> void backward(const BackwardCall<Real> &back) {
  variational_backward("vla::backward", back, true);
}

} // namespace

Variant vla() {
  Variant v;
  v.family = "exact regression";
  v.update = "$A_t = I - x_t a_t^T$, $b_t k_t^T -> v_t a_t^T$, $a_t ~ (lambda0 I + sum u u^T)^{-1} x_t$ of length 1, "
             "$phi = elu + 1$";
  v.objective = "stated as $|S k - v|^2 + tr(S M_t S^T)$, which its recursion does not minimise (004 Eq 7)";
  v.source = "004 Eq 8-11, Algorithm 1";
  v.cost = {6 * cost::Dv * cost::Dk + 6 * cost::Dk * cost::Dk, cost::Dk};
  v.params = {tuned(real_param("lambda0", 0.1, 1e-12, 1e12, "penalty at the start; $A$ starts at $I / lambda0$"),
                    {0.001, 0.01, 1}),
              integer_param("refresh", 20, 0, 1e6, "steps between two additions of $eta I$ to $A$; 0: never"),
              real_param("eta", 1e-3, 0, 1e6, "what a refresh adds to the diagonal of $A$"),
              choice_param("phi", {"elu", "identity"},
                           "feature map; with identity the output is not divided by the normaliser"),
              automatic_param("u_norm", "1/sqrt(Dk)", 0, 1e6,
                              "length of $u$ (Algorithm 1: $1/sqrt(Dk)$, Eq 8: 1); 0: the length of w")};
  v.inputs = {{"w", false, "penalty direction $u$"}};
  v.forms = {definition([](const auto &call) { recurrent(call); }),
             fast("chunked", chunked<float>, chunked<double>)
                 .backward(backward<float>, backward<double>)
                 .work(0.92 * cost::Dv * cost::Dk + 7.3 * cost::Dk * cost::Dk + 42 * cost::Dk + 28 * cost::Dv)};
  v.layout = "S [Dv,Dk], A [Dk,Dk], sum of features [1,Dk], steps since the last refresh [1,Dk] (the first element)";
  v.symmetric = "A";
  v.state_shape = variational_state;
  v.initial_state = variational_start;
  return v;
}

} // namespace recollect::variants
