// SPDX-License-Identifier: Apache-2.0
// Intention: least squares over the prefix, solved from scratch at every step (003 Vignette 1; Garnelo and Czarnecki
// 2023, arXiv:2305.10203). The ridge makes the Gram matrix invertible at steps t < Dk.
//
//   o_t = V_t^T K_t (K_t^T K_t + ridge I)^{-1} q_t,   K_t, V_t the keys and values up to t as rows
//
// State: (Dv + Dk) x Dk, V_t^T K_t above K_t^T K_t. Cost per token: recurrent (one Cholesky factorisation) 4 Dv Dk + 3
// Dk^2 + Dk^3 / 3; chunked (Woodbury blocks of C steps) 6 Dv Dk + 2 Dk^2 + C (3 Dv + 5 Dk) + 7/3 Dk^3 / C flops.
#include "variants/kernels/regression/gram.hpp"
#include "variants/kernels/regression/normal_equations_backward.hpp"

namespace recollect::variants {
namespace {

template <class Real> void recurrent(const Call<Real> &call) {
  normal_equations_recurrent("intention::recurrent", call, false, false);
}
template <class Real> void chunked(const Call<Real> &call) {
  normal_equations_chunked("intention::chunked", call, false);
}
template <class Real> void backward(const BackwardCall<Real> &back) {
  normal_equations_vjp("intention::backward", back, false);
}

} // namespace

Variant intention() {
  Variant v;
  v.family = "exact regression";
  v.update = "$A_t = I$, $b_t = v_t$ (and $H_t = H_{t-1} + k_t k_t^T$), read at $(H_t + ridge I)^{-1} q_t$";
  v.objective = "$sum_i |S k_i - v_i|^2 / 2 + ridge |S|_F^2 / 2$, minimised exactly";
  v.source = "003 Eq 10-11, Vignette 1; Garnelo and Czarnecki 2023 (arXiv:2305.10203)";
  v.cost = cost::at_least(4 * cost::Dv * cost::Dk + 3 * cost::Dk * cost::Dk + cost::Dk * cost::Dk * cost::Dk / 3);
  v.params = {tuned(real_param("ridge", 1e-2, 1e-12, 1e12, "weight of $|S|^2$"), {1e-4, 0.1, 1})};
  v.forms = {definition([](const auto &call) { recurrent(call); }),
             fast("chunked", chunked<float>, chunked<double>).backward(backward<float>, backward<double>)};
  v.traits.order_invariant = true;
  v.layout = "V^T K [Dv,Dk], K^T K [Dk,Dk]";
  v.symmetric = "K^T K";
  v.state_shape = stacked_state;
  solves_with(v, [](const Params &p) { return Gram{p.real("ridge"), false, false}; });
  v.traits.zero_key_keeps = true;
  v.traits.repeats = Repeats::ridged_mean;
  return v;
}

} // namespace recollect::variants
