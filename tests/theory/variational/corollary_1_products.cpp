// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(corollary_1_products)

BOOST_AUTO_TEST_CASE(claims_hold_at_points_of_my_own) {
  check_claim_at("vla_cor2_product_norm", {{"c", "-0.3"}, {"T", "7"}});
  check_claim_at("vla_random_product_law", {{"c", "-0.5"}, {"d", "4"}, {"T", "3"}});
}

BOOST_AUTO_TEST_CASE(statements_refuse_points_where_they_do_not_apply) {
  refuse_point("vla_random_product_law", {{"c", "0.5"}}); // sizes are kept on average
}

BOOST_AUTO_TEST_CASE(two_orthogonal_steps_by_hand) {
  // c = 0, d = 2: E|P_1 x|^2 = 1 + 1/2 and twice that exponent gives 9/4.
  const Finding found = check_claim_at("vla_random_product_law", {{"c", "0"}, {"d", "2"}, {"T", "2"}});
  for (const Point &point : found.points)
    if (point.role == Role::obligation) BOOST_TEST(point.predicted == 2.25);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
