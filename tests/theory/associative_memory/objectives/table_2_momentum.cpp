// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(table_2_momentum)

BOOST_AUTO_TEST_CASE(the_counter_example_by_hand) {
  // k = 1, 1 and v = 1, 2, eta = 3/4: S_1 = 1, C_2 = 3/4 + 2 and S_2 = C_2; as printed C_2 = (1 + 3/4) 2.
  const Finding finding = examine(find_claim("eq76_momentum"), {});
  BOOST_TEST((finding.points[0].role == Role::statement));
  BOOST_TEST(finding.points[0].measured == 2.75);
  BOOST_TEST(finding.points[0].predicted == 3.5);
}

BOOST_AUTO_TEST_CASE(what_needs_training_is_not_tested) {
  BOOST_TEST((examine(find_claim("momentum_helps"), {}).verdict == Verdict::not_tested));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
