// SPDX-License-Identifier: Apache-2.0
#include "tests/features.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(hedgehog)

BOOST_AUTO_TEST_CASE(two_steps_by_hand) {
  // phi(0) = (1, 1), phi(ln 2) = (2, 1/2): weights 2 and 2.5 for q = 0.  o_1 = 3, o_2 = (2*3 + 2.5*5) / 4.5.
  const Output out = forward(find_variant("hedgehog"), one_head(2, {0, 0}, {0, std::log(2)}, {3, 5}));
  check_close(out.o, {3, 18.5 / 4.5}, 50 * epsilon_of(Real::f64));
  check_close(out.state, {13. / 2, 5.5, 3. / 2, 1.5, std::log(2), 0}, 50 * epsilon_of(Real::f64)); // peaks 2 and 1
}

BOOST_AUTO_TEST_CASE(kernel_is_a_sum_of_hyperbolic_cosines) {
  const std::vector<double> x{0.3, -1.2, 2}, y{-0.7, 0.4, 1.1};
  double expected = 0;
  for (int j = 0; j < 3; ++j) expected += 2 * std::cosh(x[j] + y[j]);
  const double measured = inner_product(features_of("hedgehog", x), features_of("hedgehog", y));
  BOOST_TEST(std::fabs(measured - expected) <= 20 * epsilon_of(Real::f64) * expected);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
