// SPDX-License-Identifier: Apache-2.0
#include "tests/testing.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(linear_rms)

BOOST_AUTO_TEST_CASE(two_steps_by_hand) {
  // y_1 = (3,4), mean square 12.5.  S_2 = (3,4) + (1,-4): y_2 = (4,0), mean square 8.
  const double a = 1 / std::sqrt(12.5 + 1e-6), b = 1 / std::sqrt(8 + 1e-6), rounding = 50 * epsilon_of(Real::f64);
  const Output out = forward(find_variant("linear_rms"), one_head(2, {1, 1}, {1, 1}, {3, 4, 1, -4}));
  check_close(out.o, {3 * a, 4 * a, 4 * b, 0}, rounding);
  check_close(out.state, {4, 0}, 0);
}

BOOST_AUTO_TEST_CASE(the_length_of_the_values_does_not_matter) {
  Sequence s = random_sequence({1, 1, 30, 4, 3}, 2);
  const Variant &variant = find_variant("linear_rms");
  const Run run{"recurrent", Real::f64, 1, variant_params(variant, {{"epsilon", "1e-30"}})};
  const Output once = forward(variant, s, run);
  for (double &v : s.v) v *= 1024;
  check_close(forward(variant, s, run).o, once.o, 50 * epsilon_of(Real::f64));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
