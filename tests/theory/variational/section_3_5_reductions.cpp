// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(section_3_5_reductions)

BOOST_AUTO_TEST_CASE(claims_hold_at_points_of_my_own) {
  check_claim_at("vla_remark_u0_linear_attention", {{"T", "9"}, {"d", "12"}, {"lambda0", "0.3"}});
  check_claim_at("vla_remark_recovers_deltanet", {{"T", "15"}, {"d", "7"}, {"beta", "0.35"}});
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
