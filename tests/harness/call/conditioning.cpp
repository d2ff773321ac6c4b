// SPDX-License-Identifier: Apache-2.0
#include "harness/call/conditioning.hpp"
#include "tests/testing.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(conditioning)

BOOST_AUTO_TEST_CASE(deviation_is_relative_to_the_largest_element_of_each_array) {
  const Output a{{1, 2, 4}, {10, 20}, {}}, b{{1, 3, 4}, {10, 15}, {}};
  const Deviation d = deviation(b, a);
  BOOST_TEST(d.outputs == 0.25);
  BOOST_TEST(d.state == 0.25);
  BOOST_TEST(deviation(a, a).largest() == 0);
  const Output broken{{1, std::nan(""), 4}, {10, 20}, {}};
  BOOST_TEST(std::isnan(deviation(broken, a).largest()));
}

BOOST_AUTO_TEST_CASE(of_a_product_of_three_numbers_is_one_or_three) {
  // o = v (k q): if each of the three changes by a relative +-delta, o changes by the sum, +-1 or +-3 delta.
  const double kappa = input_condition(find_variant("linear"), one_head(1, {2}, {3}, {5}), {}, 8);
  BOOST_TEST((std::fabs(kappa - 3) < 1e-5 || std::fabs(kappa - 1) < 1e-5));
}

BOOST_AUTO_TEST_CASE(of_a_read_that_cancels_is_the_loss_of_digits) {
  // k.q = 1 - 0.999 = 1e-3. If the elements of k and q change by a relative delta, k.q changes by a relative 2 (1 +
  // 0.999) / 1e-3 delta at most. The change of v adds one more delta.
  const double kappa = input_condition(find_variant("linear"), one_head(1, {1, -0.999}, {1, 1}, {1}), {}, 16);
  BOOST_TEST((kappa > 1e3 && kappa < 4.1e3));
}

BOOST_AUTO_TEST_CASE(counts_steps_channels_and_chunk) { BOOST_TEST(accumulated_terms({2, 3, 100, 8, 9}, 16) == 124); }

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
