// SPDX-License-Identifier: Apache-2.0
// DeltaProduct: several Householder steps a token (003 Eq 26-28; Siems et al. 2025, arXiv:2502.10297).
//
//   S_t^(j) = S_t^(j-1) (I - beta_t x_j x_j^T) + beta_t v_t x_j^T,   j = 1 ... n_h, from S_t^(0) = S_{t-1}
//   o_t = S_t^(n_h) q_t
//
// The last step is taken at x = k_t and the ones before it in turn at w_t and k_t; without w all are at k_t, the
// repeated gradient steps of 003. State: Dv x Dk. Cost a token: recurrent (4 householder + 2) Dv Dk; chunked as delta_net on
// n_h T steps.
#include "variants/kernels/arrays.hpp"
#include "variants/kernels/rows.hpp"
#include "variants/kernels/wy_vjp.hpp"

namespace recollect::variants {
namespace {

template <class Real> KOKKOS_FUNCTION const Real *key_of_step(const Head<Real> &h, int t, int j, int steps) {
  return (steps - 1 - j) % 2 == 0 ? h.k(t) : h.w(t);
}

template <class Real> void recurrent(const Call<Real> &call) {
  const int steps = call.params.integer("householder");
  recurrent_rows(
      "delta_product::recurrent", call, KOKKOS_LAMBDA(const Head<Real> &h, int t, int i, Real *s)->Real {
        for (int j = 0; j < steps; ++j) {
          const Real *x = key_of_step(h, t, j, steps), residual = h.v(t)[i] - dot(s, x, h.Dk);
          for (int c = 0; c < h.Dk; ++c) s[c] += h.beta[t] * residual * x[c];
        }
        return dot(s, h.q(t), h.Dk);
      });
}

/// Keys and steps of all sub-steps.
template <class Real> DeltaRule<Real> as_rule(const Call<Real> &call) {
  const int steps = call.params.integer("householder"), Dk = call.shape.Dk;
  const Array<Real> keys = allocate(call, call.steps() * steps * Dk), beta = allocate(call, call.steps() * steps);
  each_head(
      "delta_product::sub_steps", call, 0, KOKKOS_LAMBDA(const Team &team, const Head<Real> &h) {
        each_row(team, h.T * steps, [=](int s, int first, int side) {
          const size_t at = h.index * h.T * steps + s;
          const Real *x = key_of_step(h, s / steps, s % steps, steps);
          for (int c = first; c < Dk; c += side) keys(at * Dk + c) = x[c];
          if (first == 0) beta(at) = h.beta[s / steps];
        });
      });
  return {steps, keys, keys, beta, beta, {}, {}};
}
template <class Real> void chunked(const Call<Real> &call) {
  delta_rule("delta_product::chunked", call, as_rule(call));
}

/// Rows of x for all sub-steps: the token's at each, or at the last alone and 0 at the others.
template <class Real> struct Repeat {
  int steps, width;
  bool at_last;
  Array<Real> x, out;
  KOKKOS_FUNCTION void operator()(size_t s) const {
    const bool wanted = !at_last || s % steps + 1 == size_t(steps);
    for (int c = 0; c < width; ++c) out(s * width + c) = wanted ? x(s / steps * width + c) : Real(0);
  }
};
/// A token's gradients, from those of its sub-steps.
template <class Real> struct Gather {
  int steps, Dk, Dv;
  Array<Real> q, keys, v, erase, write; // of the sub-steps
  Array<Real> d_q, d_k, d_w, d_v, d_beta;
  KOKKOS_FUNCTION void operator()(size_t t) const {
    for (int c = 0; c < Dk; ++c) {
      Real at_k = 0, at_w = 0;
      for (int j = 0; j < steps; ++j) ((steps - 1 - j) % 2 == 0 ? at_k : at_w) += keys((t * steps + j) * Dk + c);
      d_q(t * Dk + c) = q((t * steps + steps - 1) * Dk + c), d_k(t * Dk + c) = at_k, d_w(t * Dk + c) = at_w;
    }
    for (int i = 0; i < Dv; ++i) {
      Real sum = 0;
      for (int j = 0; j < steps; ++j) sum += v((t * steps + j) * Dv + i);
      d_v(t * Dv + i) = sum;
    }
    Real sum = 0;
    for (int j = 0; j < steps; ++j) sum += erase(t * steps + j) + write(t * steps + j);
    d_beta(t) = sum;
  }
};
/// As a delta rule on steps T tokens, of which every last one is read.
template <class Real> void backward(const Pullback<Real> &back) {
  const Call<Real> &call = back.call;
  DeltaRule<Real> rule = as_rule(call);
  const int steps = rule.steps, Dk = call.shape.Dk, Dv = call.shape.Dv;
  const size_t n = call.steps() * steps;
  rule.steps = 1;
  const auto repeated = [&](const Array<Real> &x, int width, bool at_last) {
    const Array<Real> out = allocate(call, n * width);
    Kokkos::parallel_for("delta_product::repeat", Kokkos::RangePolicy<Execution>(0, n),
                         Repeat<Real>{steps, width, at_last, x, out});
    return out;
  };
  Pullback<Real> fine = back;
  fine.call.shape.T = fine.d.shape.T = call.shape.T * steps;
  fine.call.q = repeated(call.q, Dk, false), fine.call.v = repeated(call.v, Dv, false);
  fine.call.o = allocate(call, n * Dv), fine.d.o = repeated(back.d.o, Dv, true);
  fine.d.q = allocate(call, n * Dk), fine.d.v = allocate(call, n * Dv);
  const DeltaRuleGradient<Real> d{fine.d.q, allocate(call, n * Dk), allocate(call, n), allocate(call, n)};
  delta_rule_vjp("delta_product::backward", fine, rule, d);
  Kokkos::parallel_for("delta_product::gather", Kokkos::RangePolicy<Execution>(0, call.steps()),
                       Gather<Real>{steps, Dk, Dv, d.q, d.p, fine.d.v, d.erase, d.write, back.d.q, back.d.k, back.d.w,
                                    back.d.v, back.d.beta});
}

} // namespace

Variant delta_product() {
  Variant v;
  v.family = "delta rule";
  v.update =
      "A_t = prod_j (I - beta_t x_j x_j^T), b_t k_t^T -> sum of n_h rank-one writes, x = ... k, w, k; phi = identity";
  v.objective = "|S k - v|^2 / 2 and |S w - v|^2 / 2, gradient steps of size beta_t in turn";
  v.source = "003 Eq 26-28; Siems et al. 2025 (arXiv:2502.10297)";
  v.cost = (5 * cost::parameter("householder") + 2) * cost::Dv * cost::Dk;
  v.params = {integer_param("householder", 2, 1, 16, "Householder steps a token, n_h")};
  v.inputs = {{"beta", true, "step size of every Householder step"},
              {"w", false, "key of every second step before the last"}};
  v.forms = {definition([](const auto &call) { recurrent(call); }), {"chunked", chunked<float>, chunked<double>}};
  v.forms[1].vjp = {backward<float>, backward<double>};
  v.traits.zero_step_keeps = true;
  v.traits.zero_key_keeps = true;
  v.traits.repeats = Repeats::last;
  return v;
}

} // namespace recollect::variants
