// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(section_6_length)

BOOST_AUTO_TEST_CASE(claims_hold_at_points_of_my_own) {
  check_claim_at("mqar_rls_vs_linear_untrained", {{"P", "64"}, {"d", "32"}, {"T", "300"}});
  check_claim_at("mqar_t_independence", {{"d", "24"}, {"T", "800"}});
  check_claim_at("mqar_t_independence", {{"d", "32"}, {"T", "727"}});
  refuse_point("mqar_t_independence", {{"d", "64"}, {"T", "727"}});
  refuse_point("mqar_t_independence", {{"d", "24"}, {"T", "1200"}});
  refuse_point("mqar_rls_vs_linear_untrained", {{"P", "32"}, {"d", "32"}});
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
