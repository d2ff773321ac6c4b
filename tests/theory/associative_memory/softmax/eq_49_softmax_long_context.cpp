// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(eq_49_softmax_long_context)

BOOST_AUTO_TEST_CASE(claims_come_out_as_stated_at_other_points) {
  check_claim_at("eq49_update_1_over_t", {{"t", "7"}, {"d", "3"}, {"dv", "2"}});
  check_claim_at("eq49_objective_vanishes", {{"t", "5"}, {"d", "3"}, {"dv", "2"}});
  check_claim_at("unnormalised_update_size", {{"t", "33"}, {"d", "3"}, {"dv", "2"}});
}

BOOST_AUTO_TEST_CASE(what_is_not_numeric_is_not_tested) {
  BOOST_TEST((examine(find_claim("softmax_icl_diminishes"), {}).verdict == Verdict::not_tested));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
