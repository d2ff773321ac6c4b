// SPDX-License-Identifier: Apache-2.0
// Mesa layer: the ridge solution over a decaying past, from its normal equations (003 Vignettes 1-2; von Oswald et al.
// 2023, arXiv:2309.05858, and with decay and conjugate gradients von Oswald et al. 2025, arXiv:2506.05233).
//
//   H_t = alpha_t H_{t-1} + beta_t k_t k_t^T,   B_t = alpha_t B_{t-1} + beta_t v_t k_t^T
//   o_t = B_t (H_t + ridge I)^{-1} q_t
//
// The ridge does not decay, so the solution stays bounded where the solution of weighted_rls grows without bound.
// State: (Dv + Dk) x Dk: B, then H. Cost per token: recurrent (Cholesky) 4 Dv Dk + 3 Dk^2 + Dk^3 / 3; chunked (Woodbury
// blocks of at most C steps; a step that decays starts a block) 6 Dv Dk + 2 Dk^2 + C (3 Dv + 5 Dk), and 7/3 Dk^3 per
// block; conjugate gradients 2 Dk^2 + 4 C Dk per iteration.
#include "variants/kernels/common/arrays.hpp"
#include "variants/kernels/regression/gram.hpp"
#include "variants/kernels/regression/normal_equations_backward.hpp"

namespace recollect::variants {
namespace {

/// Input of the chunked forms: a pair with weight beta is replaced by the pair (sqrt(beta) k, sqrt(beta) v) with weight
/// 1.
template <class Real> Array<Real> weighed(const Call<Real> &call, const Array<Real> &rows, int width) {
  if (!call.has("beta")) return rows;
  const Array<Real> out = allocate(call, rows.extent(0)), beta = call.beta;
  parallel_loop(
      "mesa::weighed", rows.extent(0),
      KOKKOS_LAMBDA(const size_t i) { out(i) = math::sqrt(beta(i / width)) * rows(i); });
  return out;
}
template <class Real> Call<Real> weighed(Call<Real> call) {
  call.k = weighed(call, call.k, call.shape.Dk), call.v = weighed(call, call.v, call.shape.Dv);
  return call;
}

template <class Real> void recurrent(const Call<Real> &call) {
  normal_equations_recurrent("mesa::recurrent", call, true, true);
}
template <class Real> void chunked(const Call<Real> &call) {
  normal_equations_chunked("mesa::chunked", weighed(call), true);
}
template <class Real> void iterative(const Call<Real> &call) {
  conjugate_gradients("mesa::conjugate_gradients", weighed(call), true);
}
template <class Real> void backward(const BackwardCall<Real> &back) {
  const Call<Real> &call = back.call;
  const bool weighs = call.has("beta");
  normal_equations_vjp("mesa::backward", back, true, weighs ? call.beta : Array<Real>(),
                       weighs ? back.d.beta : Array<Real>(), weighed(call, call.k, call.shape.Dk));
}

} // namespace

Variant mesa() {
  Variant v;
  v.aliases = {"mesanet", "mesa_net"};
  v.family = "exact regression";
  v.update = "$A_t = alpha_t I$, $b_t = beta_t v_t$ (and $H_t = alpha_t H_{t-1} + beta_t k_t k_t^T$), read at $(H_t + "
             "ridge I)^{-1} q_t$";
  v.objective =
      "$sum_i gamma_i |S k_i - v_i|^2 / 2 + ridge |S|_F^2 / 2$, $gamma_i = beta_i$ times the alphas after $i$";
  v.source = "003 Vignettes 1-2; von Oswald et al. 2023 (arXiv:2309.05858), 2025 (arXiv:2506.05233)";
  v.cost = cost::at_least(4 * cost::Dv * cost::Dk + 3 * cost::Dk * cost::Dk + cost::Dk * cost::Dk * cost::Dk / 3);
  v.params = {tuned(real_param("ridge", 1e-2, 1e-12, 1e12, "weight of $|S|^2$, which does not decay"), {1e-4, 0.1, 1})};
  v.inputs = {{"beta", false, "weight of the pair", "", Input::not_negative},
              {"alpha", false, "decay of every earlier pair's weight"}};
  v.forms = {definition([](const auto &call) { recurrent(call); }),
             fast("chunked", chunked<float>, chunked<double>).backward(backward<float>, backward<double>),
             fast("conjugate_gradients", iterative<float>, iterative<double>)};
  v.layout = "B [Dv,Dk], H [Dk,Dk]";
  v.symmetric = "H";
  v.state_shape = stacked_state;
  solves_with(v, [](const Params &p) { return Gram{p.real("ridge"), true, false, true}; });
  v.traits.zero_step_keeps = true;
  v.traits.zero_key_keeps = true;
  v.traits.repeats = Repeats::ridged_mean;
  return v;
}

} // namespace recollect::variants
