// SPDX-License-Identifier: Apache-2.0
// DeltaProduct: several Householder steps per token (003 Eq 26-28; Siems et al. 2025, arXiv:2502.10297).
//
//   S_t^(j) = S_t^(j-1) (I - beta_t x_j x_j^T) + beta_t v_t x_j^T,   j = 1 ... n_h, from S_t^(0) = S_{t-1}
//   o_t = S_t^(n_h) q_t
//
// The last step is taken at x = k_t and the ones before it in turn at w_t and k_t; without w all are at k_t, the
// repeated gradient steps of 003. State: Dv x Dk. Cost per token: recurrent (4 householder + 2) Dv Dk; chunked as delta_net on
// n_h T steps.
#include "harness/device/each_index.hpp"
#include "variants/kernels/chunked/delta_rule_backward.hpp"
#include "variants/kernels/common/arrays.hpp"
#include "variants/kernels/common/rows.hpp"

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
  const HeadArrays<Real> arrays(call);
  each_row(
      "delta_product::sub_steps", int(call.steps() * steps), Dk, KOKKOS_LAMBDA(int s, int first, int side) {
        const int token = s / steps, t = token % arrays.T;
        const Head<Real> h = arrays.head(token / arrays.T);
        const Real *x = key_of_step(h, t, s % steps, steps);
        for (int c = first; c < Dk; c += side) keys(size_t(s) * Dk + c) = x[c];
        if (first == 0) beta(s) = h.beta[t];
      });
  return {steps, keys, keys, beta, beta, {}, {}};
}

/// Rows of x for all sub-steps: the token's at each, or at the last alone and 0 at the others.
template <class Real> struct Repeat {
  int steps, width;
  bool at_last;
  Array<Real> x, out;
  KOKKOS_FUNCTION void operator()(int s, int first, int side) const {
    const bool wanted = !at_last || s % steps + 1 == steps;
    for (int c = first; c < width; c += side)
      out(size_t(s) * width + c) = wanted ? x(size_t(s / steps) * width + c) : Real(0);
  }
};
template <class Real>
Array<Real> repeated(const Call<Real> &call, int steps, const Array<Real> &x, int width, bool at_last = false) {
  const size_t n = call.steps() * steps;
  const Array<Real> out = allocate(call, n * width);
  each_row("delta_product::repeat", int(n), width, Repeat<Real>{steps, width, at_last, x, out});
  return out;
}
/// The call of a delta rule on steps T tokens, of which every last one is read.
template <class Real> Call<Real> in_single_steps(const Call<Real> &call, int steps) {
  Call<Real> fine = call;
  fine.shape.T = call.shape.T * steps;
  fine.q = repeated(call, steps, call.q, call.shape.Dk), fine.v = repeated(call, steps, call.v, call.shape.Dv);
  fine.o = allocate(call, call.steps() * steps * call.shape.Dv);
  return fine;
}

template <class Real> void chunked(const Call<Real> &call) {
  DeltaRule<Real> rule = as_rule(call);
  if constexpr (on_host) {
    delta_rule("delta_product::chunked", call, rule);
  } else { // a chunk of all its sub-steps is too large for a GPU's shared memory
    const int steps = rule.steps, Dv = call.shape.Dv;
    const Call<Real> fine = in_single_steps(call, steps);
    rule.steps = 1;
    delta_rule("delta_product::chunked", fine, rule);
    const Array<Real> o = call.o, all = fine.o;
    each_row(
        "delta_product::last", int(call.steps()), Dv, KOKKOS_LAMBDA(int t, int first, int side) {
          for (int i = first; i < Dv; i += side) o(size_t(t) * Dv + i) = all((size_t(t) * steps + steps - 1) * Dv + i);
        });
  }
}

/// A token's gradients, from those of its sub-steps.
template <class Real> struct Gather {
  int steps, Dk, Dv;
  Array<Real> q, keys, v, erase, write; // of the sub-steps
  Array<Real> d_q, d_k, d_w, d_v, d_beta;
  KOKKOS_FUNCTION void operator()(int token, int first, int side) const {
    const size_t t = token, begin = t * steps;
    for (int c = first; c < Dk; c += side) {
      Real at_k = 0, at_w = 0;
      for (int j = 0; j < steps; ++j) ((steps - 1 - j) % 2 == 0 ? at_k : at_w) += keys((begin + j) * Dk + c);
      d_q(t * Dk + c) = q((begin + steps - 1) * Dk + c), d_k(t * Dk + c) = at_k, d_w(t * Dk + c) = at_w;
    }
    for (int i = first; i < Dv; i += side) {
      Real sum = 0;
      for (int j = 0; j < steps; ++j) sum += v((begin + j) * Dv + i);
      d_v(t * Dv + i) = sum;
    }
    if (first) return;
    Real sum = 0;
    for (int j = 0; j < steps; ++j) sum += erase(begin + j) + write(begin + j);
    d_beta(t) = sum;
  }
};
template <class Real> void backward(const Pullback<Real> &back) {
  const Call<Real> &call = back.call;
  DeltaRule<Real> rule = as_rule(call);
  const int steps = rule.steps, Dk = call.shape.Dk, Dv = call.shape.Dv;
  const size_t n = call.steps() * steps;
  rule.steps = 1;
  Pullback<Real> fine = back;
  fine.call = in_single_steps(call, steps);
  fine.d.shape.T = fine.call.shape.T, fine.d.o = repeated(call, steps, back.d.o, Dv, true);
  fine.d.q = allocate(call, n * Dk), fine.d.v = allocate(call, n * Dv);
  const DeltaRuleGradient<Real> d{fine.d.q, allocate(call, n * Dk), allocate(call, n), allocate(call, n)};
  delta_rule_vjp("delta_product::backward", fine, rule, d);
  each_row("delta_product::gather", int(call.steps()), Dk,
           Gather<Real>{steps, Dk, Dv, d.q, d.p, fine.d.v, d.erase, d.write, back.d.q, back.d.k, back.d.w, back.d.v,
                        back.d.beta});
}

} // namespace

Variant delta_product() {
  Variant v;
  v.aliases = {"deltaproduct"};
  v.family = "delta rule";
  v.update = "$A_t = prod_j (I - beta_t x_j x_j^T)$, $b_t k_t^T$ -> sum of $n_h$ rank-one writes, $x = ... k, w, k$; "
             "$phi = identity$";
  v.objective = "$|S k - v|^2 / 2$ and $|S w - v|^2 / 2$, gradient steps of size $beta_t$ in turn";
  v.source = "003 Eq 26-28; Siems et al. 2025 (arXiv:2502.10297)";
  v.cost = (5 * cost::parameter("householder") + 2) * cost::Dv * cost::Dk;
  v.params = {integer_param("householder", 2, 1, 16, "Householder steps per token, $n_h$")};
  v.inputs = {{"beta", true, "step size of every Householder step"},
              {"w", false, "key of every second step before the last"}};
  v.forms = {definition([](const auto &call) { recurrent(call); }), {"chunked", chunked<float>, chunked<double>}};
  v.forms.back().work = on_one_thread(cost::parameter("householder") * (1.5 * cost::Dv * cost::Dk + 85 * cost::Dk));
  v.forms[1].vjp = {backward<float>, backward<double>};
  v.traits.zero_step_keeps = true;
  v.traits.zero_key_keeps = true;
  v.traits.repeats = Repeats::last;
  return v;
}

} // namespace recollect::variants
