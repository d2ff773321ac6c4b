// SPDX-License-Identifier: Apache-2.0
#include "harness/core/error.hpp"
#include "tests/theory/examine.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(eq_13_exp_noise)

BOOST_AUTO_TEST_CASE(at_points_of_our_own) {
  const Finding finding = check_claim_at("snr_exp", {{"d", "24"}, {"n", "10"}, {"tau", "5"}});
  const double rate = 8.0 / 25, exact = 9 * 12 / 10.0 * std::pow(1 + 2 * rate, -12); // (n-1) dv/(dv-2) (1+2a)^(-d/2)
  BOOST_TEST(std::fabs(finding.points[1].predicted / exact - 1) < 1e-12);
  BOOST_TEST(finding.points[1].params.real("tau") == 5);
  check_claim_at("snr_exp", {{"d", "9"}, {"n", "3"}, {"dv", "3"}}); // tau = 3
  check_claim_at("snr_exp_fixed_tau", {{"d", "11"}, {"tau", "1.3"}});
  check_claim_at("snr_exp_large_tau", {{"d", "30"}, {"tau", "50"}});
  check_claim_at("snr_log2n", {{"d", "20"}});
  check_claim_at("snr_temperature", {{"d", "12"}, {"tau", "1.7"}});
}

BOOST_AUTO_TEST_CASE(a_temperature_far_below_the_root_is_told_apart) {
  // The printed form is off by nine orders there, far beyond the e^4 that the limit allows.
  const Claim &claim = find_claim("snr_exp");
  const Assignments point{{"n", "17"}, {"d", "128"}, {"dv", "16"}, {"tau", "2"}};
  const Finding finding = examine(claim, {Effort::quick, 1, resolve(claim.params, point, claim.id)});
  BOOST_TEST(std::string(name_of(finding.verdict)) == "refuted");
  BOOST_TEST(!finding.passed);
}

BOOST_AUTO_TEST_CASE(points_at_which_a_statement_does_not_apply) {
  BOOST_CHECK_THROW(check_claim_at("snr_exp_large_tau", {{"d", "64"}, {"tau", "8"}}), Error);
  BOOST_CHECK_THROW(check_claim_at("snr_temperature", {{"tau", "3"}}), Error);
  BOOST_CHECK_THROW(check_claim_at("snr_exp", {{"d", "256"}, {"tau", "1.05"}}), Error); // exp leaves float64's range
}

BOOST_AUTO_TEST_CASE(temperatures_next_to_the_optimum_are_refused) {
  refuse_point("snr_temperature", {{"tau", "1.99999"}});
  check_claim_at("snr_temperature", {{"tau", "1.95"}});
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
