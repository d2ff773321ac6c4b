// SPDX-License-Identifier: Apache-2.0
#include "tests/variants/kernels/gradients.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(exponential_features)

BOOST_AUTO_TEST_CASE(pairs_of_hedgehog_weigh_hyperbolic_cosines) {
  // phi(q) . phi(k) = sum_j e^{q_j + k_j} + e^{-q_j - k_j}
  const int T = 30, D = 3, V = 2;
  const Sequence s = random_sequence({1, 1, T, D, V}, 331);
  std::vector<double> expected(T * V, 0);
  for (int t = 0; t < T; ++t) {
    double total = 0;
    for (int i = 0; i <= t; ++i) {
      double weight = 0;
      for (int j = 0; j < D; ++j) weight += 2 * std::cosh(s.q[t * D + j] + s.k[i * D + j]);
      total += weight;
      for (int c = 0; c < V; ++c) expected[t * V + c] += weight * s.v[i * V + c];
    }
    for (int c = 0; c < V; ++c) expected[t * V + c] /= total;
  }
  for (int C : {1, 7, 30})
    check_close(forward(find_variant("hedgehog"), s, {"chunked", Real::f64, C, {}}).o, expected, 1e-13);
}

BOOST_AUTO_TEST_CASE(features_past_the_type_s_range_leave_the_largest_key_s_value) {
  // e^500 is no float32: the second key's feature outweighs the first's by e^400, and is outweighed at the third by e^300.
  const Sequence s = one_head(3, {1, 1, 1}, {100, 500, 800}, {3, 5, 7});
  for (const char *form : {"recurrent", "chunked"})
    check_close(forward(find_variant("hedgehog"), s, {form, Real::f32, 2, {}}).o, {3, 5, 7}, 0);
}

BOOST_AUTO_TEST_CASE(a_mean_of_equal_values_has_no_slope_but_in_them) {
  Sequence s = random_sequence({1, 1, 9, 3, 1}, 332);
  s.v.assign(9, 4);
  std::vector<double> d_o(9, 0);
  d_o[8] = 1;
  const Sequence d = gradients("hedgehog", s, 4, d_o);
  BOOST_TEST(max_abs(d.q) <= 9 * rounding);
  BOOST_TEST(max_abs(d.k) <= 9 * rounding);
  double weights = 0;
  for (double x : d.v) weights += x;
  BOOST_TEST(std::abs(weights - 1) <= rounding);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
