// SPDX-License-Identifier: Apache-2.0
#include "tests/testing.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(linear_elu)

BOOST_AUTO_TEST_CASE(two_steps_by_hand) {
  // phi(k_1) = (2, 1), phi(k_2) = (1, 1/e), phi(q) = (1, 1).  o_1 = v_1 = 3.
  // S_2 = (3*2 + 5, 3 + 5/e), z_2 = (3, 1 + 1/e);  o_2 = (14 + 5/e) / (4 + 1/e).
  const Sequence s = one_head(2, {0, 0, 0, 0}, {1, 0, 0, -1}, {3, 5});
  const double e = std::exp(-1.0), rounding = 20 * epsilon_of(Real::f64) * 14;
  const Output out = forward(find_variant("linear_elu"), s);
  check_close(out.o, {3, (14 + 5 * e) / (4 + e)}, rounding);
  check_close(out.state, {11, 3 + 5 * e, 3, 1 + e}, rounding);
}

BOOST_AUTO_TEST_CASE(reads_are_weighted_means) {
  Sequence s =
      random_sequence({1, 2, 50, 4, 3}, 2, Keys::gaussian); // weights are positive: o stays within the values' range
  for (double &v : s.v) v = 7;
  const Output out = forward(find_variant("linear_elu"), s);
  check_close(out.o, std::vector<double>(s.v.size(), 7), 7 * 50 * epsilon_of(Real::f64));
}

BOOST_AUTO_TEST_CASE(keys_without_weight_read_nothing) {
  const Sequence s = one_head(1, {0}, {-1e4}, {3}); // phi(k) underflows to 0
  check_close(forward(find_variant("linear_elu"), s).o, {0}, 0);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
