// SPDX-License-Identifier: Apache-2.0
#include "tests/features.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(based)

BOOST_AUTO_TEST_CASE(two_steps_by_hand) {
  // Weights 1 + s + s^2/2 of s = 1 and 2 are 2.5 and 5.  o_1 = 3, o_2 = (2.5*3 + 5*5) / 7.5.
  // phi(1) = (1, 1, 1/sqrt 2), phi(2) = (1, 2, 4/sqrt 2).
  const double r = std::sqrt(0.5), rounding = 50 * epsilon_of(Real::f64);
  const Output out = forward(find_variant("based"), one_head(2, {1, 1}, {1, 2}, {3, 5}));
  check_close(out.o, {3, 32.5 / 7.5}, rounding);
  check_close(out.state, {8, 13, 23 * r, 2, 3, 5 * r}, rounding);
}

BOOST_AUTO_TEST_CASE(kernel_is_the_second_order_taylor_polynomial) {
  const std::vector<double> x{0.3, -1.2, 2, 0.9}, y{-0.7, 0.4, 1.1, -0.5};
  for (const char *scale : {"0", "0.3", "1"}) {
    const double s = std::stod(scale) * inner_product(x, y);
    const double measured =
        inner_product(features_of("based", x, {{"scale", scale}}), features_of("based", y, {{"scale", scale}}));
    const double terms = std::pow(1 + std::stod(scale) * std::sqrt(inner_product(x, x) * inner_product(y, y)), 2);
    BOOST_TEST(std::fabs(measured - (1 + s + s * s / 2)) <= 20 * epsilon_of(Real::f64) * terms);
  }
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
