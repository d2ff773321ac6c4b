// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(eq_26_moba)

BOOST_AUTO_TEST_CASE(at_points_of_our_own) {
  check_claim_at("moba_gating", {{"blocks", "5"}, {"block", "3"}, {"d", "4"}, {"topk", "2"}});
  check_claim_at("moba_gating", {{"blocks", "8"}, {"block", "2"}, {"topk", "5"}});
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
