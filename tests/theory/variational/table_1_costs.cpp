// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"
#include "theory/support/counted.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(table_1_costs)

BOOST_AUTO_TEST_CASE(claims_hold_at_points_of_my_own) {
  check_claim_at("vla_complexity_ot", {{"T", "3"}, {"d", "9"}});
  check_claim_at("vla_constant_ratio", {{"d", "10"}});
}

BOOST_AUTO_TEST_CASE(a_quotient_counts_like_a_product) {
  using theory::Counted;
  BOOST_TEST(theory::count([] { BOOST_TEST((Counted(6) / Counted(2) * Counted(3)).value == 9); }) == 2);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
