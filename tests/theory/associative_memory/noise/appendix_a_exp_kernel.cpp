// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(appendix_a_exp_kernel)

BOOST_AUTO_TEST_CASE(at_points_of_our_own) {
  const Assignments probe{{"d", "5"}, {"tau", "2.5"}, {"square", "7"}};
  const Finding finding = check_claim_at("snr_exp_conditional", probe);
  BOOST_TEST(std::fabs(finding.points[0].predicted - std::exp(-3 / 6.25 * 7)) < 1e-15);
  check_claim_at("snr_exp_typo", probe);
  check_claim_at("snr_exp_median", {{"d", "37"}});
  // d = 4, where the angle's density is sin^2: the mean of e^(4 cos) over it is I_1(4) / 2 = 4.8797...
  const Finding sphere = check_claim_at("snr_exp_sphere", {{"d", "4"}});
  BOOST_TEST(std::fabs(sphere.points[0].measured - 9.7594651537 / 2 * std::exp(-4)) < 1e-9);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
