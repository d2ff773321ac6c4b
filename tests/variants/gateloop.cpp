// SPDX-License-Identifier: Apache-2.0
#include "tests/reductions.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(gateloop)

BOOST_AUTO_TEST_CASE(two_steps_by_hand) {
  // A decay of 1/2 and 60 degrees: S_2 = 3 (1/4 + i sqrt(3)/4) + 5; read with q = 2.
  Sequence s = one_head(2, {2, 2}, {1, 1}, {3, 5});
  s.lambda = {1, 0.5}, s.w = {0, std::acos(-1.0) / 3};
  const Output out = forward(find_variant("gateloop"), s);
  check_close(out.o, {6, 11.5}, 20 * epsilon_of(Real::f64));
  check_close(out.state, {5.75, 3 * std::sqrt(3) / 4}, 20 * epsilon_of(Real::f64));
}

BOOST_AUTO_TEST_CASE(real_decays_are_gla) {
  Sequence s = random_sequence({1, 2, 40, 6, 5}, 5);
  s.w.clear();
  check_reduction("gateloop", s, "gated_linear", s, {}, {},
                  false); // its state has an imaginary part as well, which is 0
  const Output out = forward(find_variant("gateloop"), s);
  for (size_t i = 0; i < out.state.size(); ++i)
    if (i % 12 >= 6) BOOST_TEST(out.state[i] == 0);
}

BOOST_AUTO_TEST_CASE(a_half_turn_changes_the_sign) {
  Sequence s = one_head(2, {1, 1}, {1, 1}, {3, 5});
  s.lambda = {1, 1}, s.w = {0, std::acos(-1.0)};
  check_close(forward(find_variant("gateloop"), s).o, {3, 2}, 20 * epsilon_of(Real::f64));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
