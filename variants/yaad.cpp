// SPDX-License-Identifier: Apache-2.0
// Yaad on a linear memory: a delta rule that uses only the signs of the error if the error is long (Behrouz et al.
// 2025, arXiv:2504.13173, Eq 26).
//
//   e_t = v_t - S_{t-1} k_t,   delta_t = delta lambda_t[0]
//   S_t = alpha_t S_{t-1} + beta_t g_t k_t^T,   g_t = e_t if |e_t| <= delta_t, else delta_t sign(e_t)
//   o_t = S_t q_t
//
// Signs are taken per channel, so the length of the step jumps at the threshold, from delta to at most delta sqrt(Dv).
// If |e_t| is near delta_t, rounding decides between the two cases; gradients belong to the case that was chosen.
// State: Dv x Dk. Cost per token: 7 Dv Dk flops.
#include "variants/kernels/online/matrix_memory.hpp"

namespace recollect::variants {
namespace {

template <class Real> struct ClippedLoss {
  Real delta;
  KOKKOS_FUNCTION Real threshold(const Head<Real> &h, int t) const { return delta * h.lambda(t)[0]; }
  KOKKOS_FUNCTION static Real sign(Real x) { // NaN if x has overflowed
    return (x > 0 ? Real(1) : x < 0 ? Real(-1) : Real(0)) + (x - x);
  }
  KOKKOS_FUNCTION bool is_long(const Team &team, const Head<Real> &h, int t, const Real *e) const {
    const Real most = threshold(h, t); // errors are divided by `most` so that no square overflows
    return total<Real>(team, h.Dv, [=](int i) { return e[i] / most * (e[i] / most); }) > 1;
  }

  KOKKOS_FUNCTION void slope(const Team &team, const Head<Real> &h, int t, const Real *e, Real *g) const {
    const bool clip = is_long(team, h, t, e);
    const Real most = threshold(h, t);
    each(team, h.Dv, [=](int i) { g[i] = clip ? most * sign(e[i]) : e[i]; });
  }
  KOKKOS_FUNCTION void pull(const Team &team, const Head<Real> &h, int t, const Real *e, const Real *dg, Real *de,
                            const StepGradient<Real> &d) const {
    const bool clip = is_long(team, h, t, e);
    each(team, h.Dv, [=](int i) { de[i] = clip ? Real(0) : dg[i]; });
    each(team, h.Dk, [=, *this](int j) {
      Real sum = 0;
      for (int i = 0; clip && j == 0 && i < h.Dv; ++i) sum += delta * sign(e[i]) * dg[i];
      d.lambda[j] = sum;
    });
  }
};

template <class Real> MatrixMemory<Real, ClippedLoss<Real>, PlainView> memory(const Call<Real> &call) {
  return {call.shape.Dk, call.shape.Dv, 1, {Real(call.params.real("delta"))}, {}};
}
template <class Real> void recurrent(const Call<Real> &call) { train_matrix("yaad::recurrent", call, memory(call)); }
template <class Real> void backward(const BackwardCall<Real> &back) {
  recurrent_vjp("yaad::backward", back, memory(back.call));
}

} // namespace

Variant yaad() {
  Variant v = matrix_memory_variant();
  v.update =
      "$S_t = alpha_t S_{t-1} + beta_t g_t k_t^T$, $e_t = v_t - S_{t-1} k_t$, $g_t = e_t$ if $|e_t| <= delta_t$, "
      "else $delta_t sign(e_t)$, $delta_t = delta lambda_t[0]$, $phi = identity$";
  v.objective = "$|S k - v|^2 / 2$ if $|S k - v| <= delta$, else $delta |S k - v|_1$";
  v.source = "Behrouz et al. 2025 (arXiv:2504.13173) Eq 26";
  v.cost = 7 * cost::Dv * cost::Dk;
  v.params = {tuned(real_param("delta", 1, 0, no_limit, "length of the error above which only its signs are written"),
                    {0.25, 4})};
  v.inputs = {{"beta", false, "step size of the write"},
              {"alpha", false, "decay of the memory"},
              {"lambda", false, "its first channel is a factor on $delta$ at every step; the others are not read"}};
  v.forms = {definition([](const auto &call) { recurrent(call); }).backward(backward<float>, backward<double>)};
  return v;
}

} // namespace recollect::variants
