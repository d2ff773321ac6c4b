// SPDX-License-Identifier: Apache-2.0
// Normalised least mean squares: among the memories that store the new pair exactly, the one nearest to the previous
// memory (003 Eq 32-33).
//
//   S_t = S_{t-1} + (v_t - S_{t-1} k_t) k_t^T / |k_t|^2,   unchanged where k_t = 0
//   o_t = S_t q_t
//
// The code runs the delta rule that stores v_t / |k_t| at the unit key k_t / |k_t|, so no length of k_t underflows or
// overflows. State: Dv x Dk. Cost per token: recurrent 6 Dv Dk; chunked (C steps per chunk) 6 Dv Dk + C (4 Dk + 3 Dv)
// flops, as matrix products.
#include "variants/kernels/chunked/delta_rule_backward.hpp"
#include "variants/kernels/chunked/delta_variant.hpp"
#include "variants/kernels/common/arrays.hpp"
#include "variants/kernels/common/rows.hpp"
#include "variants/kernels/common/unit_rows.hpp"

namespace recollect::variants {
namespace {

template <class Real> void recurrent(const Call<Real> &call) {
  const UnitRows<Real> unit = unit_rows(call, call.k, call.shape.Dk);
  recurrent_rows(
      "nlms::recurrent", call, KOKKOS_LAMBDA(const Head<Real> &h, int t, int i, Real *s)->Real {
        const size_t step = h.index * h.T + t;
        const Real *x = unit.rows.data() + step * h.Dk, length = unit.length(step);
        const Real residual = length > 0 ? h.v(t)[i] / length - dot(s, x, h.Dk) : Real(0);
        for (int j = 0; j < h.Dk; ++j) s[j] += residual * x[j];
        return dot(s, h.q(t), h.Dk);
      });
}

template <class Real> DeltaRule<Real> as_rule(const Call<Real> &call, const UnitRows<Real> &unit) {
  return {1, unit.rows, unit.rows, {}, over_lengths(call, unit, {}), {}, {}};
}
template <class Real> void chunked(const Call<Real> &call) {
  delta_rule("nlms::chunked", call, as_rule(call, unit_rows(call, call.k, call.shape.Dk)));
}
template <class Real> void backward(const BackwardCall<Real> &back) {
  const Call<Real> &call = back.call;
  const UnitRows<Real> unit = unit_rows(call, call.k, call.shape.Dk),
                       d{allocate(call, call.k.extent(0)), allocate(call, call.steps())};
  const DeltaRule<Real> rule = as_rule(call, unit);
  const Array<Real> d_write = allocate(call, call.steps());
  delta_rule_vjp("nlms::backward", back, rule, {back.d.q, d.rows, {}, d_write});
  over_lengths_vjp(unit, rule.write, d_write, d.length, {});
  unit_rows_vjp(unit, d, back.d.k);
}

} // namespace

Variant nlms() {
  Variant v = delta_variant();
  v.update = "$A_t = I - k_t k_t^T / |k_t|^2$, $b_t = v_t / |k_t|^2$, $phi = identity$";
  v.objective = "$|S - S_{t-1}|_F^2 / 2$ subject to $S k = v$";
  v.source = "003 Eq 32-33";
  v.cost = 6 * cost::Dv * cost::Dk;
  v.forms = {definition([](const auto &call) { recurrent(call); }),
             fast("chunked", chunked<float>, chunked<double>)
                 .backward(backward<float>, backward<double>)
                 .work(2.15 * cost::Dv * cost::Dk + 73 * cost::Dk)};
  v.traits.zero_step_keeps = false; // there is no beta
  return v;
}

} // namespace recollect::variants
