// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(section_2_2_bounded_objectives)

BOOST_AUTO_TEST_CASE(claims_come_out_as_stated_at_other_points) {
  check_claim_at("objective_boundedness", {{"t", "40"}, {"d", "2"}, {"dv", "6"}});
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
