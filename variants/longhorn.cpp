// SPDX-License-Identifier: Apache-2.0
// Longhorn: the memory that minimises the sum of its squared distance to the previous memory and d_t times the squared
// error on the new pair (003 Eq 30-31).
//
//   S_t = S_{t-1} + (v_t - S_{t-1} k_t) k_t^T d_t / (1 + d_t |k_t|^2),   d_t = delta beta_t
//   o_t = S_t q_t
//
// In the limit d -> infinity the layer is NLMS. The recurrence is computed with x_t = k_t / m and g_t = d_t m^2 / (1 +
// d_t |k_t|^2), where m is a power of two: 1, or about the largest element of |k_t|:
//
//   S_t = S_{t-1} + (v_t / m - S_{t-1} x_t) x_t^T g_t,   g_t = d_t / (1 / m^2 + d_t |x_t|^2)
//
// Then no length of k_t overflows, and a length whose square underflows is negligible compared with 1 / d. The choice
// of m has no effect on the result. No square root is taken, and nothing is divided by |k|, so that gradients stay
// smooth at k = 0 and d = 0. The published layer (Liu et al. 2024, arXiv:2407.14207) replaces k k^T by its diagonal;
// this file follows 003. State: Dv x Dk. Cost per token: recurrent 6 Dv Dk; chunked (C steps per chunk) 6 Dv Dk + C (4
// Dk + 3 Dv) flops, as matrix products.
#include "variants/kernels/chunked/delta_rule_backward.hpp"
#include "variants/kernels/chunked/delta_variant.hpp"
#include "variants/kernels/common/rows.hpp"
#include "variants/kernels/common/scaled_rows.hpp"

namespace recollect::variants {
namespace {

/// The gain g of a step, from d, size = m and square = |x|^2.
template <class Real> struct Gain {
  Real share, erase; // share = (1 / m^2) / (1 / m^2 + d |x|^2), erase = d / (1 / m^2 + d |x|^2)
  KOKKOS_FUNCTION Gain(Real d, Real size, Real square) {
    const Real one = 1 / size / size, sum = one + d * square;
    share = sum > 0 ? one / sum : Real(0), erase = sum > 0 ? d / sum : Real(0); // 0 if d = 0 and 1 / m^2 underflows
  }
};

template <class Real> DeltaRule<Real> as_rule(const Call<Real> &call, const ScaledRows<Real> &key) {
  const Array<Real> erase = allocate(call, call.steps()), write = allocate(call, call.steps()), beta = call.beta;
  const Real delta = call.params.real("delta");
  parallel_loop(
      "longhorn::gains", call.steps(), KOKKOS_LAMBDA(const size_t t) {
        erase(t) = Gain<Real>(delta * beta(t), key.size(t), key.square(t)).erase;
        write(t) = erase(t) / key.size(t);
      });
  return {1, key.rows, key.rows, erase, write, {}, {}};
}

template <class Real> void recurrent(const Call<Real> &call) {
  const DeltaRule<Real> rule = as_rule(call, scaled_rows(call, call.k, call.shape.Dk));
  recurrent_rows(
      "longhorn::recurrent", call, KOKKOS_LAMBDA(const Head<Real> &h, int t, int i, Real *s)->Real {
        const size_t step = h.index * h.T + t;
        const Real *x = rule.p.data() + step * h.Dk;
        const Real change = rule.write(step) * h.v(t)[i] - rule.erase(step) * dot(s, x, h.Dk);
        for (int j = 0; j < h.Dk; ++j) s[j] += change * x[j];
        return dot(s, h.q(t), h.Dk);
      });
}

template <class Real> void chunked(const Call<Real> &call) {
  delta_rule("longhorn::chunked", call, as_rule(call, scaled_rows(call, call.k, call.shape.Dk)));
}

/// m has no gradient, because the result does not depend on m: dg / dd = (1 / m^2)^2 / (1 / m^2 + d |x|^2)^2 m^2, dg /
/// d|x|^2 = - g^2, dk = dx / m.
template <class Real> void backward(const BackwardCall<Real> &back) {
  const Call<Real> &call = back.call;
  const ScaledRows<Real> key = scaled_rows(call, call.k, call.shape.Dk);
  const DeltaRule<Real> rule = as_rule(call, key);
  const Array<Real> d_k = back.d.k, d_erase = allocate(call, call.steps()), d_write = allocate(call, call.steps());
  delta_rule_vjp("longhorn::backward", back, rule, {back.d.q, d_k, d_erase, d_write});
  const Array<Real> beta = call.beta, d_beta = back.d.beta;
  const Real delta = call.params.real("delta");
  const int width = call.shape.Dk;
  each_row(
      "longhorn::gains", int(call.steps()), width, KOKKOS_LAMBDA(int t, int first, int side) {
        const Real *const x = key.rows.data() + size_t(t) * width, size = key.size(t), gain = rule.erase(t);
        Real *const dx = d_k.data() + size_t(t) * width;
        const Real square = key.square(t), slope = d_erase(t) + d_write(t) / size; // gradient with respect to g
        const Real share = Gain<Real>(delta * beta(t), size, square).share * size;
        for (int j = first; j < width; j += side) dx[j] = (dx[j] - 2 * (gain * x[j]) * (gain * slope)) / size;
        if (first == 0) d_beta(t) = delta * (share * slope * share);
      });
}

} // namespace

Variant longhorn() {
  Variant v = delta_variant();
  v.update = "$A_t = I - g_t k_t k_t^T$, $b_t = g_t v_t$, $g_t = d_t / (1 + d_t |k_t|^2)$, $d_t = delta beta_t$, $phi "
             "= identity$";
  v.objective = "$|S - S_{t-1}|_F^2 / 2 + d_t |S k - v|^2 / 2$, minimised exactly";
  v.source = "003 Eq 30-31";
  v.differs = "the published layer (arXiv:2407.14207) replaces $k k^T$ by its diagonal; this is the form of 003";
  v.cost = 6 * cost::Dv * cost::Dk;
  v.params = {tuned(real_param("delta", 1, 0, 1e30, "weight of the new pair against the old memory"), {0.1, 10, 100})};
  v.inputs = {{"beta", false, "factor on $delta$ at every step", "", Input::not_negative}};
  v.forms = {definition([](const auto &call) { recurrent(call); }),
             fast("chunked", chunked<float>, chunked<double>)
                 .backward(backward<float>, backward<double>)
                 .work(2.35 * cost::Dv * cost::Dk + 72 * cost::Dk)};
  v.traits.repeats = Repeats::other; // a write moves the memory only part of the way
  return v;
}

} // namespace recollect::variants
