// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(table_2_gated_softmax)

BOOST_AUTO_TEST_CASE(weights_by_hand) {
  // t = 3, gate 1/2: Z = 1, 3/2, 7/4; the newest write has 4/7, the one before it 2/7, the first 1/7.
  const Finding finding = check_claim_at("gated_softmax_normaliser", {{"t", "3"}, {"lambda", "0.5"}});
  BOOST_TEST(std::fabs(finding.points[1].measured - 4.0 / 7) < 1e-15);
  BOOST_TEST(std::fabs(finding.points[4].measured - 3.0 / 7) < 1e-15); // (2/7) / (2/3)
  BOOST_TEST(std::fabs(finding.points[6].measured - 1.0 / 7) < 1e-15);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
