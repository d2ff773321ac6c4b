// SPDX-License-Identifier: Apache-2.0
// Recursive least squares with geometric forgetting: the weight of pair i is the product of the later alphas (003 Eq
// 14-16, solved exactly).
//
//   P_t = (G_t)^{-1},  G_t = alpha_t G_{t-1} + k_t k_t^T,  G_0 = ridge I
//   S_t = S_{t-1} + (v_t - S_{t-1} k_t) (P_t k_t)^T,       S_0 = 0
//   o_t = S_t q_t
//
// The ridge is forgotten like the data, so P and its rounding errors grow without bound along directions that no recent
// key has (wind-up). With keys that nearly repeat, or gates of 1e-8, no digit is correct. (The ridge of mesa does not
// decay.) State: (Dv + Dk) x Dk: S, then P. Cost per token: recurrent 6 Dv Dk + 6 Dk^2; chunked (blocks of C steps, by
// Woodbury's formula) 6 Dv Dk + 4 Dk^2 + C (3 Dv + 5 Dk) + C^2 / 3 flops, as matrix products; more if cancellation or
// decay ends blocks early.
#include "variants/kernels/regression/gram.hpp"
#include "variants/kernels/regression/least_squares_backward.hpp"

namespace recollect::variants {
namespace {

template <class Real> void recurrent(const Call<Real> &call) {
  least_squares_recurrent("weighted_rls::recurrent", call, true);
}
template <class Real> void chunked(const Call<Real> &call) {
  least_squares_chunked("weighted_rls::chunked", call, true);
}
template <class Real> void backward(const BackwardCall<Real> &back) {
  least_squares_vjp("weighted_rls::backward", back, true);
}

} // namespace

Variant weighted_rls() {
  Variant v;
  v.family = "exact regression";
  v.update = "$A_t = I - k_t (P_t k_t)^T$, $b_t k_t^T -> v_t (P_t k_t)^T$, $P_t^{-1} = alpha_t P_{t-1}^{-1} + k_t "
             "k_t^T$, $phi = identity$";
  v.objective =
      "$sum_i gamma_i |S k_i - v_i|^2 / 2 + gamma_0 ridge |S|_F^2 / 2$, $gamma_i$ the product of the alphas after $i$";
  v.source = "003 Eq 14-16, Vignette 2";
  v.cost = 6 * cost::Dv * cost::Dk + 6 * cost::Dk * cost::Dk;
  v.params = {tuned(real_param("ridge", 1e-2, 1e-12, 1e12, "weight of $|S|^2$ at the start; $P$ starts at $I / ridge$"),
                    {1e-4, 0.1, 1})};
  v.inputs = {{"alpha", true, "decay of every earlier pair's weight, and of the ridge", "", Input::positive}};
  v.forms = {definition([](const auto &call) { recurrent(call); }),
             fast("chunked", chunked<float>, chunked<double>)
                 .backward(backward<float>, backward<double>)
                 .work(6.3 * cost::Dk * cost::Dk + 120 * cost::Dk + 5 * cost::Dv + 1850)};
  v.traits.stable = false; // wind-up: nothing bounds the rounding in P along directions that are forgotten
  v.layout = "S [Dv,Dk], P [Dk,Dk]";
  v.symmetric = "P";
  v.state_shape = stacked_state;
  v.initial_state = [](const Shape &s, const Params &p) { return inverse_ridge_state(s, p.real("ridge")); };
  solves_with(v, [](const Params &p) { return Gram{p.real("ridge"), true, true}; });
  v.traits.zero_key_keeps = true;
  v.traits.repeats = Repeats::ridged_mean;
  return v;
}

} // namespace recollect::variants
