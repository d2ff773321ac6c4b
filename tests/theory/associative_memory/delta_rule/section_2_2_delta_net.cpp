// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(section_2_2_delta_net)

BOOST_AUTO_TEST_CASE(chosen_keys_by_hand) {
  // Nine unit writes, each at a right angle to their sum so far: |S| = 3.
  const Finding finding = check_claim_at("deltanet_norm_adversarial", {{"T", "9"}});
  BOOST_TEST(std::fabs(finding.points[1].measured - 3) < 1e-14);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
