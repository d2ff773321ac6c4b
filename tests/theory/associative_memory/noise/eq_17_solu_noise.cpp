// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(eq_17_solu_noise)

BOOST_AUTO_TEST_CASE(at_points_of_our_own) {
  check_claim_at("snr_solu", {{"n", "5"}, {"d", "10"}, {"dv", "4"}, {"tau", "6"}});
  // 5 / (25 e^10) printed, for a probe of |k_i|^2 = 25 at tau = 5.
  const Finding finding = check_claim_at("snr_solu_eq17", {{"d", "25"}});
  BOOST_TEST(std::fabs(finding.points[0].predicted / (0.2 * std::exp(-10)) - 1) < 1e-14);
  BOOST_TEST(std::fabs(finding.points[0].measured / finding.points[0].predicted - std::exp(2)) < 1e-6);
  check_claim_at("snr_solu_better_than_relu", {{"d", "12"}});
  check_claim_at("snr_ordering", {{"d", "5"}});
}

BOOST_AUTO_TEST_CASE(a_width_at_which_the_order_is_the_other_way) {
  for (const char *id : {"snr_solu_better_than_relu", "snr_ordering"}) {
    const Claim &claim = find_claim(id);
    const Finding finding = examine(claim, {Effort::quick, 1, resolve(claim.params, {{"d", "3"}}, claim.id)});
    BOOST_TEST(std::string(name_of(finding.verdict)) == "refuted");
  }
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
