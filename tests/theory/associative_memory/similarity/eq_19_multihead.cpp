// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(eq_19_multihead)

BOOST_AUTO_TEST_CASE(at_points_of_our_own) {
  check_claim_at("multihead_forms", {{"T", "5"}, {"heads", "2"}, {"d", "1"}, {"dv", "3"}});
  check_claim_at("multihead_forms", {{"heads", "5"}});
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
