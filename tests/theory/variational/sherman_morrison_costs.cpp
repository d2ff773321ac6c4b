// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(sherman_morrison_costs)

BOOST_AUTO_TEST_CASE(claims_hold_at_points_of_my_own) {
  for (const char *id : {"vla_constant_factor", "vla_eq18_cost"}) check_claim_at(id, {{"d", "10"}});
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
