// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(section_7_4_repeated_inputs)

BOOST_AUTO_TEST_CASE(claims_hold_at_points_of_my_own) {
  check_claim_at("vla_redundant_inputs", {{"d", "12"}, {"n", "3"}});
}

BOOST_AUTO_TEST_CASE(statements_refuse_points_where_they_do_not_apply) {
  refuse_point("vla_redundant_inputs", {{"d", "8"}, {"n", "5"}}); // too many keys for their Gram matrix
}

BOOST_AUTO_TEST_CASE(no_window_has_an_edge) {
  check_claim_at("vla_most_recent_window", {{"d", "6"}, {"m", "5"}});
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
