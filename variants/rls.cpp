// SPDX-License-Identifier: Apache-2.0
// Recursive least squares: the exact ridge solution of every prefix, updated by the Sherman-Morrison formula (003 Eq
// 10-11).
//
//   P_t = (sum_{i<=t} k_i k_i^T + ridge I)^{-1}
//   S_t = S_{t-1} + (v_t - S_{t-1} k_t) (P_t k_t)^T,   S_0 = 0
//   o_t = S_t q_t
//
// State: (Dv + Dk) x Dk: S, then P. Cost per token: recurrent 6 Dv Dk + 6 Dk^2; chunked (blocks of C steps, by
// Woodbury's formula) 6 Dv Dk + 4 Dk^2 + C (3 Dv + 5 Dk) + C^2 / 3 flops, as matrix products; more if cancellation ends
// blocks early.
#include "variants/kernels/regression/gram.hpp"
#include "variants/kernels/regression/least_squares_backward.hpp"

namespace recollect::variants {
namespace {

template <class Real> void recurrent(const Call<Real> &call) { least_squares_recurrent("rls::recurrent", call, false); }
template <class Real> void chunked(const Call<Real> &call) { least_squares_chunked("rls::chunked", call, false); }
template <class Real> void backward(const BackwardCall<Real> &back) { least_squares_vjp("rls::backward", back, false); }

} // namespace

Variant rls() {
  Variant v;
  v.family = "exact regression";
  v.update = "$A_t = I - k_t (P_t k_t)^T$, $b_t k_t^T -> v_t (P_t k_t)^T$, $P_t = (sum k k^T + ridge I)^{-1}$, $phi = "
             "identity$";
  v.objective = "$sum_i |S k_i - v_i|^2 / 2 + ridge |S|_F^2 / 2$, minimised exactly";
  v.source = "003 Eq 10-11, Vignette 1";
  v.cost = 6 * cost::Dv * cost::Dk + 6 * cost::Dk * cost::Dk;
  v.params = {
      tuned(real_param("ridge", 1e-2, 1e-12, 1e12, "weight of $|S|^2$; $P$ starts at $I / ridge$"), {1e-4, 0.1, 1})};
  v.forms = {definition([](const auto &call) { recurrent(call); }),
             fast("chunked", chunked<float>, chunked<double>)
                 .backward(backward<float>, backward<double>)
                 .work(4 * cost::Dk * cost::Dk + 150 * cost::Dk + 20 * cost::Dv + 670)};
  v.traits.order_invariant = true;
  v.layout = "S [Dv,Dk], P [Dk,Dk]";
  v.symmetric = "P";
  v.state_shape = stacked_state;
  v.initial_state = [](const Shape &s, const Params &p) { return inverse_ridge_state(s, p.real("ridge")); };
  solves_with(v, [](const Params &p) { return Gram{p.real("ridge"), false, false}; });
  v.traits.zero_key_keeps = true;
  v.traits.repeats = Repeats::ridged_mean;
  return v;
}

} // namespace recollect::variants
