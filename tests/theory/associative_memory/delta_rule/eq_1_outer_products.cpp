// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(eq_1_outer_products)

BOOST_AUTO_TEST_CASE(at_points_of_our_own) {
  check_claim_at("eq1_recurrent", {{"T", "3"}, {"d", "5"}, {"dv", "2"}});
  check_claim_at("eq4_split", {{"T", "30"}, {"d", "4"}, {"dv", "7"}});
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
