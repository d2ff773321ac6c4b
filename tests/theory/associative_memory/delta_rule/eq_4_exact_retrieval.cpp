// SPDX-License-Identifier: Apache-2.0
#include "harness/core/error.hpp"
#include "tests/theory/examine.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(eq_4_exact_retrieval)

BOOST_AUTO_TEST_CASE(at_points_of_our_own) {
  check_claim_at("orthonormal_exact", {{"n", "3"}, {"d", "12"}});
  for (const char *full : {"2", "6", "8", "32"}) check_claim_at("orthonormal_exact", {{"n", full}, {"d", full}}, 5);
  // 11 vectors in 3 dimensions: (11 - 3) / 3.
  const Finding finding = check_claim_at("crosstalk_floor", {{"n", "11"}, {"d", "3"}});
  BOOST_TEST(finding.points[0].predicted == 8.0 / 3);
}

BOOST_AUTO_TEST_CASE(points_at_which_a_statement_does_not_apply) {
  BOOST_CHECK_THROW(check_claim_at("orthonormal_exact", {{"n", "5"}, {"d", "4"}}), Error);
  BOOST_CHECK_THROW(check_claim_at("crosstalk_floor", {{"n", "8"}, {"d", "8"}}), Error);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
