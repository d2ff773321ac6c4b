// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(figure_4_swaps)

BOOST_AUTO_TEST_CASE(at_points_of_its_own) {
  check_claim_at("fig4_kappa1_ranking", {{"n", "6"}, {"swaps", "12"}});
  check_claim_at("fig4_random_keys_order", {{"d", "10"}});
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
