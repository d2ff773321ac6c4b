// SPDX-License-Identifier: Apache-2.0
// Error-free linear attention: the delta rule's differential equation dS/ds = (v - S k) k^T, solved exactly over a time
// beta instead of by one Euler step (Lei et al. 2025, arXiv:2512.12602).
//
//   S_t = S_{t-1} (I - g_t k_t k_t^T) + g_t v_t k_t^T,   o_t = S_t q_t
//   g_t = (1 - exp(-beta_t |k_t|^2)) / |k_t|^2, or beta_t if k_t = 0
//
// At small beta it approaches delta_net: the step size beta differs from g_t by the relative amount beta |k|^2 / 2. As
// beta grows, it approaches nlms. The code replaces k by k / m, where m is a power of two, so that no square overflows;
// g_t then becomes m^2 g_t. State: Dv x Dk. Cost per token: recurrent 6 Dv Dk; chunked (C steps per chunk) 6 Dv Dk + C
// (4 Dk + 3 Dv) flops, as matrix products.
#include "variants/kernels/chunked/delta_rule_backward.hpp"
#include "variants/kernels/chunked/delta_variant.hpp"
#include "variants/kernels/common/exact_gain.hpp"
#include "variants/kernels/common/rows.hpp"
#include "variants/kernels/common/scaled_rows.hpp"

namespace recollect::variants {
namespace {

template <class Real> DeltaRule<Real> as_rule(const Call<Real> &call, const ScaledRows<Real> &key) {
  const Array<Real> erase = allocate(call, call.steps()), write = allocate(call, call.steps()), beta = call.beta;
  parallel_loop(
      "efla::gains", call.steps(), KOKKOS_LAMBDA(const size_t t) {
        erase(t) = exact_gain(beta(t) * key.size(t) * key.size(t), key.square(t));
        write(t) = erase(t) / key.size(t);
      });
  return {1, key.rows, key.rows, erase, write, {}, {}};
}
template <class Real> void recurrent(const Call<Real> &call) {
  const DeltaRule<Real> rule = as_rule(call, scaled_rows(call, call.k, call.shape.Dk));
  recurrent_rows(
      "efla::recurrent", call, KOKKOS_LAMBDA(const Head<Real> &h, int t, int i, Real *s)->Real {
        const size_t step = h.index * h.T + t;
        const Real *k = rule.p.data() + step * h.Dk;
        const Real change = rule.write(step) * h.v(t)[i] - rule.erase(step) * dot(s, k, h.Dk);
        for (int j = 0; j < h.Dk; ++j) s[j] += change * k[j];
        return dot(s, h.q(t), h.Dk);
      });
}
template <class Real> void chunked(const Call<Real> &call) {
  delta_rule("efla::chunked", call, as_rule(call, scaled_rows(call, call.k, call.shape.Dk)));
}
template <class Real> void backward(const BackwardCall<Real> &back) {
  const Call<Real> &call = back.call;
  const ScaledRows<Real> key = scaled_rows(call, call.k, call.shape.Dk);
  const Array<Real> d_erase = allocate(call, call.steps()), d_write = allocate(call, call.steps()), beta = call.beta,
                    d_k = back.d.k, d_beta = back.d.beta;
  delta_rule_vjp("efla::backward", back, as_rule(call, key), {back.d.q, d_k, d_erase, d_write});
  const int width = call.shape.Dk;
  each_row(
      "efla::gains", int(call.steps()), width, KOKKOS_LAMBDA(int t, int first, int side) {
        const Real size = key.size(t), b = beta(t) * size * size, s = key.square(t);
        const Real d_gain = d_erase(t) + d_write(t) / size, d_square = d_gain * exact_gain_slope(b, s);
        for (size_t j = size_t(t) * width + first; j < size_t(t + 1) * width; j += side)
          d_k(j) = (d_k(j) + 2 * d_square * key.rows(j)) / size;
        if (first == 0) d_beta(t) = math::exp(-b * s) * d_gain * size * size;
      });
}

} // namespace

Variant efla() {
  Variant v = delta_variant();
  v.aliases = {"error_free_linear_attention"};
  v.update =
      "$A_t = I - g_t k_t k_t^T$, $b_t = g_t v_t$, $g_t = (1 - exp(-beta_t |k_t|^2)) / |k_t|^2$, $phi = identity$";
  v.objective = "$|S k - v|^2 / 2$, its gradient flow over a time $beta_t$";
  v.source = "Lei et al. 2025 (arXiv:2512.12602)";
  v.cost = 6 * cost::Dv * cost::Dk;
  v.inputs = {{"beta", true, "time of the flow; stable for every $beta >= 0$", "", Input::not_negative}};
  v.forms = {definition([](const auto &call) { recurrent(call); }), fast("chunked", chunked<float>, chunked<double>)
                                                                        .backward(backward<float>, backward<double>)
                                                                        .work(2 * cost::Dv * cost::Dk + 80 * cost::Dk)};
  v.traits.repeats = Repeats::other; // a write moves the memory only part of the way
  return v;
}

} // namespace recollect::variants
