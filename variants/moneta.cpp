// SPDX-License-Identifier: Apache-2.0
// Moneta on a linear memory: steps on a loss of degree p, and reads of the state divided by a power of its norm
// (Behrouz et al. 2025, arXiv:2504.13173, Eq 24-25, where p = 3 and q = 4).
//
//   e_t = v_t - W_{t-1} k_t
//   A_t = alpha_t A_{t-1} + lr beta_t p |e_t|^{p-1} sign(e_t) k_t^T     powers and signs per channel
//   W_t = A_t / |A_t|_r^{r-2},   o_t = W_t q_t                          r: the paper's q
//
// |A|_r = (sum_ij |A_ij|^r)^{1/r}, so |W|_r = |A|_r^{3-r}. For r >= 4, W grows without bound as A approaches 0; at A =
// 0 it is 0. State: A, Dv x Dk. Cost per token: (r + 9) Dv Dk flops and Dv powers.
#include "variants/kernels/online/normed_view.hpp"

namespace recollect::variants {
namespace {

template <class Real> struct PowerLoss {
  Real p;
  KOKKOS_FUNCTION void slope(const Team &team, const Head<Real> &h, int, const Real *e, Real *g) const {
    const Real p = this->p;
    each(team, h.Dv, [=](int i) {
      const Real size = e[i] == 0 && p == 1 ? Real(0) : p * math::pow(math::fabs(e[i]), p - 1);
      g[i] = e[i] < 0 ? -size : size;
    });
  }
  KOKKOS_FUNCTION void pull(const Team &team, const Head<Real> &h, int, const Real *e, const Real *dg, Real *de,
                            const StepGradient<Real> &) const {
    const Real p = this->p;
    each(team, h.Dv,
         [=](int i) { de[i] = p == 1 ? Real(0) : p * (p - 1) * math::pow(math::fabs(e[i]), p - 2) * dg[i]; });
  }
};

template <class Real> MatrixMemory<Real, PowerLoss<Real>, NormedView> memory(const Call<Real> &call) {
  const Params &p = call.params;
  return {call.shape.Dk, call.shape.Dv, Real(p.real("lr")), {Real(p.real("p"))}, {p.integer("r")}};
}
template <class Real> void recurrent(const Call<Real> &call) { train_matrix("moneta::recurrent", call, memory(call)); }
template <class Real> void backward(const BackwardCall<Real> &back) {
  recurrent_vjp("moneta::backward", back, memory(back.call));
}

} // namespace

Variant moneta() {
  Variant v = matrix_memory_variant();
  v.update =
      "$A_t = alpha_t A_{t-1} + lr beta_t p |e_t|^{p-1} sign(e_t) k_t^T$, $e_t = v_t - W_{t-1} k_t$, $W_t = A_t / "
      "|A_t|_r^{r-2}$, $o_t = W_t q_t$";
  v.objective = "$|W k - v|_p^p$";
  v.source = "Behrouz et al. 2025 (arXiv:2504.13173) Eq 24-25";
  v.differs += "; powers and signs are exact, whereas the source smooths them in training";
  v.cost = {(cost::parameter("r") + 9) * cost::Dv * cost::Dk, cost::Dv};
  v.params = {real_param("p", 3, 1, 16, "degree of the loss"),
              integer_param("r", 4, 2, 16, "order of the norm that divides the state; 2: no division, $W = A$"),
              tuned(real_param("lr", 1, 0, no_limit, "step size"), {0.01, 0.1})};
  v.inputs = {{"beta", false, "factor on the step size"}, {"alpha", false, "decay of the state"}};
  v.layout = "A [Dv,Dk]";
  v.forms = {definition([](const auto &call) { recurrent(call); }).backward(backward<float>, backward<double>)};
  return v;
}

} // namespace recollect::variants
