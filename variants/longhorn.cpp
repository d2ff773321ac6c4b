// SPDX-License-Identifier: Apache-2.0
// Longhorn: the memory that trades closeness to the last one for a small error on the new pair (003 Eq 30-31).
//
//   S_t = S_{t-1} + (v_t - S_{t-1} k_t) k_t^T d_t / (1 + d_t |k_t|^2),   d_t = delta beta_t
//   o_t = S_t q_t
//
// d -> infinity is NLMS. It is computed with x = k / m and g = d m^2 / (1 + d |k|^2), m a power of two, 1 or about the largest |k_j|, as
//
//   S_t = S_{t-1} + (v_t / m - S_{t-1} x_t) x_t^T g_t,   g_t = d_t / (1 / m^2 + d_t |x_t|^2)
//
// so that no length of k_t overflows, and one whose square underflows is small beside 1 / d. m has no effect on the
// result; no root and no division by |k| is taken, because the layer is smooth at k = 0 and d = 0.
// The published layer (Liu et al. 2024, arXiv:2407.14207) replaces k k^T by its diagonal; this is 003's. State: Dv x
// Dk. Cost per token: recurrent 6 Dv Dk; chunked 6 Dv Dk + C (4 Dk + 3 Dv) flops, as matrix products.
#include "harness/device/each_index.hpp"
#include "variants/kernels/chunked/delta_rule_backward.hpp"
#include "variants/kernels/common/arrays.hpp"
#include "variants/kernels/common/rows.hpp"

namespace recollect::variants {
namespace {

template <class Real> struct Scaled {
  Array<Real> rows;               // [B,H,T,Dk] x = k / m
  Array<Real> size, erase, write; // [B,H,T] m, g and g / m
};

/// Factors of a step, computed from the scale m of its key and from |x|^2 of the scaled key x = k / m.
template <class Real> struct Gain {
  Real share, erase; // 1 / m^2 over 1 / m^2 + d |x|^2, and d over it
  KOKKOS_FUNCTION Gain(Real d, Real size, Real square) {
    const Real one = 1 / size / size, sum = one + d * square;
    share = sum > 0 ? one / sum : Real(0), erase = sum > 0 ? d / sum : Real(0); // 0 where d = 0 and 1 / m^2 underflows
  }
};

template <class Real> Scaled<Real> scaled(const Call<Real> &call) {
  const Scaled<Real> out{allocate(call, call.k.extent(0)), allocate(call, call.steps()), allocate(call, call.steps()),
                         allocate(call, call.steps())};
  const Real delta = call.params.real("delta");
  const Array<Real> k = call.k, beta = call.beta;
  const int width = call.shape.Dk;
  each_row(
      "longhorn::scaled", int(call.steps()), width, KOKKOS_LAMBDA(int t, int first, int side) {
        const Real *const key = k.data() + size_t(t) * width;
        Real *const x = out.rows.data() + size_t(t) * width, largest = 0, square = 0, size = 1;
        for (int j = first; j < width; j += side) largest = math::fmax(largest, math::fabs(key[j]));
        largest = across_row(largest, [](Real a, Real b) { return math::fmax(a, b); });
        while (size < largest / 2) size *= 2; // which rounds nothing
        for (int j = first; j < width; j += side) x[j] = key[j] / size, square += x[j] * x[j];
        square = across_row(square, [](Real a, Real b) { return a + b; });
        if (first) return;
        out.size(t) = size;
        out.erase(t) = Gain<Real>(delta * beta(t), size, square).erase;
        out.write(t) = out.erase(t) / size;
      });
  return out;
}

template <class Real> void recurrent(const Call<Real> &call) {
  const Scaled<Real> key = scaled(call);
  recurrent_rows(
      "longhorn::recurrent", call, KOKKOS_LAMBDA(const Head<Real> &h, int t, int i, Real *s)->Real {
        const size_t step = h.index * h.T + t;
        const Real *x = key.rows.data() + step * h.Dk;
        const Real change = key.write(step) * h.v(t)[i] - key.erase(step) * dot(s, x, h.Dk);
        for (int j = 0; j < h.Dk; ++j) s[j] += change * x[j];
        return dot(s, h.q(t), h.Dk);
      });
}

template <class Real> DeltaRule<Real> as_rule(const Scaled<Real> &key) {
  return {1, key.rows, key.rows, key.erase, key.write, {}, {}};
}
template <class Real> void chunked(const Call<Real> &call) {
  delta_rule("longhorn::chunked", call, as_rule(scaled(call)));
}

/// With m fixed, because nothing depends on it: dg / dd = (1 / m^2)^2 / (1 / m^2 + d |x|^2)^2 m^2, dg / d|x|^2 = - g^2,
/// dk = dx / m.
template <class Real> void backward(const Pullback<Real> &back) {
  const Call<Real> &call = back.call;
  const Scaled<Real> key = scaled(call), d{back.d.k, {}, allocate(call, call.steps()), allocate(call, call.steps())};
  delta_rule_vjp("longhorn::backward", back, as_rule(key), {back.d.q, d.rows, d.erase, d.write});
  const Array<Real> beta = call.beta, d_beta = back.d.beta;
  const Real delta = call.params.real("delta");
  const int width = call.shape.Dk;
  each_row(
      "longhorn::gains", int(call.steps()), width, KOKKOS_LAMBDA(int t, int first, int side) {
        const Real *const x = key.rows.data() + size_t(t) * width, size = key.size(t), gain = key.erase(t);
        Real *const dx = d.rows.data() + size_t(t) * width;
        const Real square = row_dot(x, x, width, first, side), slope = d.erase(t) + d.write(t) / size; // in g
        const Real share = Gain<Real>(delta * beta(t), size, square).share * size;
        for (int j = first; j < width; j += side) dx[j] = (dx[j] - 2 * (gain * x[j]) * (gain * slope)) / size;
        if (first == 0) d_beta(t) = delta * (share * slope * share);
      });
}

} // namespace

Variant longhorn() {
  Variant v;
  v.family = "delta rule";
  v.update = "$A_t = I - g_t k_t k_t^T$, $b_t = g_t v_t$, $g_t = d_t / (1 + d_t |k_t|^2)$, $d_t = delta beta_t$, $phi "
             "= identity$";
  v.objective = "$|S - S_{t-1}|_F^2 / 2 + d_t |S k - v|^2 / 2$, minimised exactly";
  v.source = "003 Eq 30-31";
  v.differs = "the published layer (arXiv:2407.14207) replaces $k k^T$ by its diagonal; this is 003's";
  v.cost = 6 * cost::Dv * cost::Dk;
  v.params = {tuned(real_param("delta", 1, 0, 1e30, "weight of the new pair against the old memory"), {0.1, 10, 100})};
  v.inputs = {{"beta", false, "factor on $delta$ at every step", "", Input::not_negative}};
  v.forms = {definition([](const auto &call) { recurrent(call); }), {"chunked", chunked<float>, chunked<double>}};
  v.forms.back().vjp = {backward<float>, backward<double>};
  v.forms.back().work = on_one_thread(2.35 * cost::Dv * cost::Dk + 72 * cost::Dk);
  v.traits.zero_step_keeps = true;
  v.traits.zero_key_keeps = true;
  return v;
}

} // namespace recollect::variants
