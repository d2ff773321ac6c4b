// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(vignette_1_output_growth)

BOOST_AUTO_TEST_CASE(at_points_of_our_own) {
  check_claim_at("linattn_output_grows", {{"t", "30"}, {"T", "150"}}, 4);
  const Finding turned = check_claim_at("output_norm_restores", {{"kappa", "9"}, {"t", "400"}}, 4);
  // In the limit (1 + 9) / sqrt(2 (1 + 81)) = 0.7809, less a correction of order 1/t.
  BOOST_TEST(std::fabs(turned.points[1].predicted - 10 / std::sqrt(164)) < 0.005);
  refuse_point("linattn_output_grows", {{"t", "100"}, {"T", "192"}});
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
