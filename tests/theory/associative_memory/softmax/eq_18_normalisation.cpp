// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(eq_18_normalisation)

BOOST_AUTO_TEST_CASE(at_points_of_our_own) {
  check_claim_at("eq18_convex_read", {{"T", "9"}, {"d", "3"}, {"dv", "2"}});
  check_claim_at("eq18_unnormalised_grows", {{"t", "7"}, {"s", "3"}});
  check_claim_at("rmsnorm_removes_normaliser", {{"T", "15"}, {"d", "5"}, {"dv", "6"}});
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
