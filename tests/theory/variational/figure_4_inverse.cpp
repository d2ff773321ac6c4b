// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(figure_4_inverse)

BOOST_AUTO_TEST_CASE(claims_hold_at_points_of_my_own) { check_claim_at("vla_a_decay_56_to_10", {{"t", "333"}}); }

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
