// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(section_7_whitening)

BOOST_AUTO_TEST_CASE(claims_hold_at_points_of_my_own) {
  check_claim_at("vla_7.1_whitening_index", {{"t", "7"}, {"d", "12"}, {"lambda0", "0.3"}});
  check_claim_at("vla_whitening_direction", {{"rho", "0.3"}, {"s", "2"}, {"lambda0", "0.5"}});
  check_claim_at("vla_7.2_projection", {{"n", "3"}, {"d", "9"}, {"lambda0", "0.02"}});
  refuse_point("vla_7.2_projection", {{"n", "9"}, {"d", "9"}});
}

BOOST_AUTO_TEST_CASE(penalties_that_rounding_hides_are_refused) {
  refuse_point("vla_whitening_direction", {{"s", "10"}, {"lambda0", "1e-6"}});
  check_claim_at("vla_whitening_direction", {{"s", "1.005"}, {"lambda0", "0.3"}});
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
