// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"
#include "theory/support/features.hpp"

namespace recollect {
using namespace recollect::theory;
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(table_2_softmax)

BOOST_AUTO_TEST_CASE(features_by_hand) {
  // (x, y) = (2, 3) up to order 2: 1, y, y^2/sqrt 2, x, x y, x^2/sqrt 2.
  const double r = std::sqrt(2.0);
  check_close(exp_features({2, 3}, 2), {1, 3, 9 / r, 2, 6, 4 / r}, 1e-15);
  BOOST_TEST(std::fabs(inner(exp_features({0.6, 0.8}, 18), exp_features({0.8, -0.6}, 18)) - 1) < 1e-15);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
