// SPDX-License-Identifier: Apache-2.0
// Longhorn: the memory that trades closeness to the last one for a small error on the new pair (003 Eq 30-31).
//
//   S_t = S_{t-1} + (v_t - S_{t-1} k_t) k_t^T d_t / (1 + d_t |k_t|^2),   d_t = delta beta_t
//   o_t = S_t q_t
//
// d -> infinity is NLMS. With x = k / |k| and g = d |k|^2 it is S_t = S_{t-1} + (v_t / |k_t| - S_{t-1} x_t) x_t^T g / (1 +
// g), and so it is computed: no length of k_t under- or overflows. The published layer (Liu et al. 2024, arXiv:2407.14207) replaces k k^T by its diagonal;
// this is 003's. State: Dv x Dk. Cost a token: recurrent 6 Dv Dk; chunked 6 Dv Dk + C (4 Dk + 3 Dv) flops, as matrix
// products.
#include "variants/kernels/arrays.hpp"
#include "variants/kernels/rows.hpp"
#include "variants/kernels/unit_rows.hpp"
#include "variants/kernels/wy_vjp.hpp"

namespace recollect::variants {
namespace {

template <class Real> struct Gains {
  Array<Real> erase, write; // [B,H,T] g / (1 + g) and that over |k|
};

/// With a = sqrt(d) |k|, so that g = a^2: erase = a / (a + 1/a), write = sqrt(d) / (a + 1/a).
template <class Real> Array<Real> gain(const Call<Real> &call, const Array<Real> &length, bool erases) {
  const Real delta = call.params.real("delta");
  return per_step(
      "longhorn::gain", call, KOKKOS_LAMBDA(const Head<Real> &h, int t)->Real {
        const Real root = math::sqrt(delta * h.beta[t]), a = root * length(h.index * h.T + t);
        return a > 0 ? (erases ? a : root) / (a + 1 / a) : Real(0);
      });
}
template <class Real> Gains<Real> gains(const Call<Real> &call, const Array<Real> &length) {
  return {gain(call, length, true), gain(call, length, false)};
}

template <class Real> void recurrent(const Call<Real> &call) {
  const UnitRows<Real> unit = unit_rows(call, call.k, call.shape.Dk);
  const Gains<Real> gain = gains(call, unit.length);
  recurrent_rows(
      "longhorn::recurrent", call, KOKKOS_LAMBDA(const Head<Real> &h, int t, int i, Real *s)->Real {
        const size_t step = h.index * h.T + t;
        const Real *x = unit.rows.data() + step * h.Dk;
        const Real change = gain.write(step) * h.v(t)[i] - gain.erase(step) * dot(s, x, h.Dk);
        for (int j = 0; j < h.Dk; ++j) s[j] += change * x[j];
        return dot(s, h.q(t), h.Dk);
      });
}

template <class Real> DeltaRule<Real> as_rule(const Call<Real> &call, const UnitRows<Real> &unit) {
  const Gains<Real> gain = gains(call, unit.length);
  return {1, unit.rows, unit.rows, gain.erase, gain.write, {}, {}};
}
template <class Real> void chunked(const Call<Real> &call) {
  delta_rule("longhorn::chunked", call, as_rule(call, unit_rows(call, call.k, call.shape.Dk)));
}

/// With r = 1 / (1 + a^2): d erase / d a = 2 a r^2, d write / d a = sqrt(d) (r^2 - (a r)^2), d write / d sqrt(d) = a r.
template <class Real> void backward(const Pullback<Real> &back) {
  const Call<Real> &call = back.call;
  const UnitRows<Real> unit = unit_rows(call, call.k, call.shape.Dk),
                       d{allocate(call, call.k.extent(0)), allocate(call, call.steps())};
  const Gains<Real> d_gain{allocate(call, call.steps()), allocate(call, call.steps())};
  delta_rule_vjp("longhorn::backward", back, as_rule(call, unit), {back.d.q, d.rows, d_gain.erase, d_gain.write});
  const Array<Real> beta = call.beta, d_beta = back.d.beta;
  const Real delta = call.params.real("delta");
  Kokkos::parallel_for(
      "longhorn::gains", over(call.steps()), KOKKOS_LAMBDA(const size_t t) {
        const Real root = math::sqrt(delta * beta(t)), length = unit.length(t), a = root * length;
        if (!(a > 0)) {
          d.length(t) = d_beta(t) = 0;
          return;
        }
        const Real ar = 1 / (a + 1 / a), r = ar / a;
        const Real slope = 2 * ar * r * d_gain.erase(t) + root * (r * r - ar * ar) * d_gain.write(t); // in a
        d.length(t) = root * slope;
        d_beta(t) = (length * slope + ar * d_gain.write(t)) * (delta / (2 * root));
      });
  unit_rows_vjp(unit, d, back.d.k);
}

} // namespace

Variant longhorn() {
  Variant v;
  v.family = "delta rule";
  v.update =
      "A_t = I - g_t k_t k_t^T, b_t = g_t v_t, g_t = d_t / (1 + d_t |k_t|^2), d_t = delta beta_t, phi = identity";
  v.objective = "|S - S_{t-1}|_F^2 / 2 + d_t |S k - v|^2 / 2, minimised exactly";
  v.source = "003 Eq 30-31";
  v.differs = "the published layer (arXiv:2407.14207) replaces k k^T by its diagonal; this is 003's";
  v.cost = 6 * cost::Dv * cost::Dk;
  v.params = {tuned(real_param("delta", 1, 0, 1e30, "weight of the new pair against the old memory"), {0.1, 10, 100})};
  v.inputs = {{"beta", false, "factor on delta at every step", "", Input::not_negative}};
  v.forms = {definition([](const auto &call) { recurrent(call); }), {"chunked", chunked<float>, chunked<double>}};
  v.forms.back().vjp = {backward<float>, backward<double>};
  v.forms.back().work = on_one_thread(2.35 * cost::Dv * cost::Dk + 72 * cost::Dk);
  v.traits.zero_step_keeps = true;
  v.traits.zero_key_keeps = true;
  return v;
}

} // namespace recollect::variants
