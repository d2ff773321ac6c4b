// SPDX-License-Identifier: Apache-2.0
#include "harness/core/error.hpp"
#include "tests/theory/examine.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(eq_30_gates)

BOOST_AUTO_TEST_CASE(at_points_of_our_own) {
  check_claim_at("gating_unrolled", {{"T", "6"}, {"d", "3"}, {"dv", "2"}});
  const Finding finding = check_claim_at("kernel_trick_space", {{"t", "9"}, {"d", "4"}, {"dv", "5"}});
  BOOST_TEST(finding.points[0].measured == 81); // 9 (4 + 5) against 20
}

BOOST_AUTO_TEST_CASE(fewer_pairs_than_the_state_holds) {
  BOOST_CHECK_THROW(check_claim_at("kernel_trick_space", {{"t", "3"}, {"d", "8"}, {"dv", "8"}}), Error);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
