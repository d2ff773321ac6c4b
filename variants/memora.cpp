// SPDX-License-Identifier: Apache-2.0
// Memora on a linear memory: the weights are positive with a fixed sum, and each step multiplies every weight by a
// factor (Behrouz et al. 2025, arXiv:2504.13173, Eq 21 and 27: exponentiated gradients).
//
//   e_t = v_t - W_{t-1} k_t
//   W_t = mass softmax(alpha_t log W_{t-1} + lr beta_t e_t k_t^T)      over all Dv Dk numbers
//   o_t = W_t q_t
// State: L with W = mass softmax(L), Dv x Dk: L_t = alpha_t L_{t-1} + lr beta_t e_t k_t^T. L and log W differ by a
// constant, which softmax ignores. Initially L = 0: all weights are mass / (Dv Dk). Cost per token: 10 Dv Dk flops and
// Dv Dk exponentials.
#include "variants/kernels/online/matrix_memory.hpp"

namespace recollect::variants {
namespace {

template <class Real> struct PlainLoss {
  KOKKOS_FUNCTION void slope(const Team &team, const Head<Real> &h, int, const Real *e, Real *g) const {
    each(team, h.Dv, [=](int i) { g[i] = e[i]; });
  }
  KOKKOS_FUNCTION void pull(const Team &team, const Head<Real> &h, int, const Real *, const Real *dg, Real *de,
                            const StepGradient<Real> &) const {
    each(team, h.Dv, [=](int i) { de[i] = dg[i]; });
  }
};

/// W = mass softmax(L)
template <class Real> struct SimplexView {
  Real mass;
  KOKKOS_FUNCTION const Real *see(const Team &team, int n, const Real *L, Real *W) const {
    const Real largest = reduce(
                   team, n, L[0], [=](int i) { return L[i]; }, [](Real a, Real b) { return a > b ? a : b; }),
               peak = constant(largest);
    const Real scale = mass / total<Real>(team, n, [=](int i) { return W[i] = math::exp(L[i] - peak); });
    each(team, n, [=](int i) { W[i] *= scale; });
    team.barrier();
    return W;
  }
  KOKKOS_FUNCTION void pull(const Team &team, int n, const Real *, const Real *W, const Real *dW, Real *dL) const {
    const Real mean = total<Real>(team, n, [=](int i) { return W[i] * dW[i]; }) / mass;
    each(team, n, [=](int i) { dL[i] += W[i] * (dW[i] - mean); });
  }
};

template <class Real> MatrixMemory<Real, PlainLoss<Real>, SimplexView<Real>> memory(const Call<Real> &call) {
  const Shape &s = call.shape;
  return {s.Dk, s.Dv, Real(call.params.real("lr")), {}, {Real(call.params.real_or("mass", s.Dv))}};
}
template <class Real> void recurrent(const Call<Real> &call) { train_matrix("memora::recurrent", call, memory(call)); }
template <class Real> void backward(const BackwardCall<Real> &back) {
  recurrent_vjp("memora::backward", back, memory(back.call));
}

} // namespace

Variant memora() {
  Variant v = matrix_memory_variant();
  v.update =
      "$W_t = mass softmax(alpha_t log W_{t-1} + lr beta_t (v_t - W_{t-1} k_t) k_t^T)$ over all numbers, $o_t = W_t "
      "q_t$";
  v.objective = "$|W k - v|^2 / 2$, with the Kullback-Leibler divergence from the last $W$ as penalty";
  v.source = "Behrouz et al. 2025 (arXiv:2504.13173) Eq 21, 27";
  v.cost = {10 * cost::Dv * cost::Dk, cost::Dv * cost::Dk};
  v.params = {tuned(automatic_param("mass", "Dv", 1e-6, no_limit, "sum of all weights"), {16, 256}),
              tuned(real_param("lr", 1, 0, no_limit, "step size"), {4, 16})};
  v.inputs = {{"beta", false, "factor on the step size"}, {"alpha", false, "decay of the weights' logarithms"}};
  v.layout = "L [Dv,Dk]";
  v.forms = {definition([](const auto &call) { recurrent(call); }).backward(backward<float>, backward<double>)};
  return v;
}

} // namespace recollect::variants
