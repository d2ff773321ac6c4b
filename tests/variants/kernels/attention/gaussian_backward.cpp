// SPDX-License-Identifier: Apache-2.0
#include "tests/variants/kernels/gradients.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(gaussian_gradients)

BOOST_AUTO_TEST_CASE(one_step_by_hand) {
  // o = exp(-(q - k)^2 / B) v
  const Sequence s = one_head(1, {1}, {3}, {5});
  const double kappa = std::exp(-4 / 8.0);
  const Sequence d = gradients("soft", s, 1, {2}, {{"bandwidth", "8"}});
  check_close(d.v, {2 * kappa}, rounding);
  check_close(d.q, {2 * 5 * kappa * 4 / 8}, rounding);
  check_close(d.k, {-2 * 5 * kappa * 4 / 8}, rounding);
}

BOOST_AUTO_TEST_CASE(what_moves_queries_and_keys_together_moves_nothing) {
  const Sequence s = random_sequence({1, 1, 30, 4, 2}, 323);
  const Sequence d = gradients("skyformer", s, 8, random_sequence(s.shape, 324).v);
  for (int j = 0; j < 4; ++j) {
    double all = 0;
    for (int t = 0; t < 30; ++t) all += d.q[t * 4 + j] + d.k[t * 4 + j];
    BOOST_TEST(std::abs(all) <= 60 * rounding * max_abs(d.k));
  }
  BOOST_TEST(max_abs(d.q) > 0.1);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
