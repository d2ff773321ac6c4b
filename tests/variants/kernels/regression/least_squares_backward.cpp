// SPDX-License-Identifier: Apache-2.0
#include "harness/call/backward.hpp"
#include "tests/harness/call/gradient_case.hpp"
#include "tests/variants/kernels/gradients.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(least_squares_gradients)

BOOST_AUTO_TEST_CASE(three_steps_of_one_channel_by_hand) {
  // o_3 = q M / N with M = sum v_i k_i and N = ridge + sum k_i^2, alone in the loss.
  const std::vector<double> k{1, -0.5, 2}, v{4, 2, -1};
  const double q = 3, ridge = 0.5, M = 4 - 1 - 2, N = ridge + 1 + 0.25 + 4;
  const Sequence s = one_head(3, {1, 1, q}, k, v);
  std::vector<double> d_k, d_v;
  for (int i = 0; i < 3; ++i) d_k.push_back(q * (v[i] * N - 2 * k[i] * M) / (N * N)), d_v.push_back(q * k[i] / N);
  for (int C : {1, 2, 3}) {
    const Sequence d = gradients("rls", s, C, {0, 0, 1}, {{"ridge", "0.5"}});
    check_close(d.q, {0, 0, M / N}, rounding);
    check_close(d.k, d_k, rounding);
    check_close(d.v, d_v, rounding);
  }
}

BOOST_AUTO_TEST_CASE(forgetting_by_hand) {
  // M = a v_1 k_1 + v_2 k_2, N = a (a_1 ridge + k_1^2) + k_2^2: the start is forgotten, too.
  const double q = 3, k1 = 1, k2 = 2, v1 = 4, v2 = -1, ridge = 0.5, a1 = 0.5, a = 0.75;
  const double M = a * v1 * k1 + v2 * k2, start = a1 * ridge + k1 * k1, N = a * start + k2 * k2;
  Sequence s = one_head(2, {1, q}, {k1, k2}, {v1, v2});
  s.alpha = {a1, a};
  for (int C : {1, 2}) {
    const Sequence d = gradients("weighted_rls", s, C, {0, 1}, {{"ridge", "0.5"}});
    check_close(d.v, {q * a * k1 / N, q * k2 / N}, rounding);
    check_close(d.alpha, {-q * M * a * ridge / (N * N), q * (v1 * k1 * N - M * start) / (N * N)}, rounding);
  }
}

/// P is symmetric: the antisymmetric part of the final P's gradient has no effect and is not carried back.
BOOST_AUTO_TEST_CASE(what_is_antisymmetric_has_no_effect) {
  const Variant &variant = find_variant("weighted_rls");
  const GradientCase c = case_of(variant, {1, 1, 147, 18, 5}, 12);
  const int F = c.s.shape.Dk, Dv = c.s.shape.Dv;
  OutputWeights halves = c.weights;
  for (int i = 0; i < F; ++i)
    for (int j = 0; j < F; ++j)
      halves.state[(Dv + i) * F + j] = (c.weights.state[(Dv + i) * F + j] + c.weights.state[(Dv + j) * F + i]) / 2;
  for (int C : {1, 37, 147}) {
    const Run run{"chunked", Real::f64, C, c.params};
    const Sequence whole = backward(variant, c.s, run, c.weights), half = backward(variant, c.s, run, halves);
    check_close(whole.k, half.k, 1e-12);
    check_close(whole.alpha, half.alpha, 1e-12);
    check_close(whole.state, half.state, 1e-12 * max_abs(half.state));
  }
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
