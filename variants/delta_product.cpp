// SPDX-License-Identifier: Apache-2.0
// DeltaProduct: several Householder steps a token (003 Eq 26-28; Siems et al. 2025, arXiv:2502.10297).
//
//   S_t^(j) = S_t^(j-1) (I - beta_t x_j x_j^T) + beta_t v_t x_j^T,   j = 1 ... n_h, from S_t^(0) = S_{t-1}
//   o_t = S_t^(n_h) q_t
//
// The last step is taken at x = k_t and the ones before it in turn at w_t and k_t; without w all are at k_t, the
// repeated gradient steps of 003. State: Dv x Dk. Cost a token: recurrent (4 householder + 2) Dv Dk; chunked as delta_net on
// n_h T steps.
#include "variants/kernels/rows.hpp"
#include "variants/kernels/wy.hpp"

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

template <class Real> void chunked(const Call<Real> &call) {
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
  delta_rule("delta_product::chunked", call, {steps, keys, keys, beta, beta, {}, {}});
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
  v.traits.zero_step_keeps = true;
  v.traits.zero_key_keeps = true;
  v.traits.repeats = Repeats::last;
  return v;
}

} // namespace recollect::variants
