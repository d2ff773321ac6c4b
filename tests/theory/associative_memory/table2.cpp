// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"
#include "theory/support/mercer.hpp"

namespace recollect {
using namespace recollect::theory;
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(table2)

BOOST_AUTO_TEST_CASE(claims_come_out_as_stated) { check_claims({"table2_*", "eq76_momentum"}); }

BOOST_AUTO_TEST_CASE(the_counter_examples_by_hand) {
  // Gated softmax, all widths 1, k = v = 1, lambda = 1/2: S_1 = 1, S_2 = 1/4 + 1/2; as printed 1 - (1/4 - 1/2) = 5/4.
  const Finding gated = examine(*select_claims({"table2_gated_softmax"}).front(), {});
  BOOST_TEST((gated.points[0].role == Role::statement));
  BOOST_TEST(gated.points[0].measured == 0.5);
  // Momentum, k = 1, v = 1, 2, eta = 3/4: C_2 = 3/4 + 2, as printed (1 + 3/4) 2.
  const Finding momentum = examine(*select_claims({"eq76_momentum"}).front(), {});
  BOOST_TEST(momentum.points[0].measured == 0.75);
}

BOOST_AUTO_TEST_CASE(mercer_features_by_hand) {
  const std::vector<double> phi = mercer_features({2, 3}, 2);
  const double r = std::sqrt(2.0);
  check_close(phi, {1, 2, 3, 4 / r, 6 / r, 6 / r, 9 / r}, 1e-15);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
