// SPDX-License-Identifier: Apache-2.0
#include "harness/core/error.hpp"
#include "tests/theory/examine.hpp"
#include "theory/support/features.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(eq_11_mercer)

BOOST_AUTO_TEST_CASE(at_points_of_our_own) {
  // 1 + 0.5 + 0.125 + 1/48 + 1/384 in 5 dimensions: (5^5 - 1) / 4 = 781 features.
  const Finding finding = check_claim_at("mercer_map", {{"d", "5"}, {"order", "4"}, {"x", "0.5"}, {"tau", "3"}});
  BOOST_TEST(std::fabs(finding.points[1].predicted - (1.625 + 1 / 48.0 + 1 / 384.0)) < 1e-15);
  check_claim_at("mercer_truncation_law", {{"format", "fp16"}, {"x", "4"}});
  check_claim_at("mercer_truncation_7_8", {{"format", "fp32"}, {"x", "3"}});
}

BOOST_AUTO_TEST_CASE(points_at_which_a_statement_does_not_apply) {
  BOOST_CHECK_THROW(check_claim_at("mercer_truncation_7_8", {{"format", "bf16"}, {"x", "2"}}), Error); // 7 it is
  BOOST_CHECK_THROW(check_claim_at("mercer_map", {{"d", "16"}, {"order", "6"}}), Error);
}

BOOST_AUTO_TEST_CASE(features_by_hand) {
  // (1, x, x (x) x / sqrt 2) of (2, 3).
  const std::vector<double> phi = theory::mercer_features({2, 3}, 2);
  const double root = std::sqrt(2.0);
  const std::vector<double> expected{1, 2, 3, 4 / root, 6 / root, 6 / root, 9 / root};
  BOOST_TEST_REQUIRE(phi.size() == expected.size());
  for (size_t i = 0; i < phi.size(); ++i) BOOST_TEST(std::fabs(phi[i] - expected[i]) < 1e-14);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
