// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(section_6_5_long_context)

BOOST_AUTO_TEST_CASE(claims_hold_at_points_of_my_own) { check_claim_at("vla_longcontext_untrained", {{"m", "40"}}); }

BOOST_AUTO_TEST_CASE(a_gate_forgets_by_length) {
  check_claim_at("eq4_forgets_by_length", {{"m", "30"}, {"beta", "0.8"}});
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
