// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(appendix_a1_gain)

BOOST_AUTO_TEST_CASE(claims_hold_at_points_of_my_own) {
  for (const char *id : {"rls_pre_update_gain", "vla_post_vs_pre_direction"})
    check_claim_at(id, {{"n", "10"}, {"d", "5"}, {"lambda0", "0.4"}});
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
