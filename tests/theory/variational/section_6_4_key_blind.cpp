// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(section_6_4_key_blind)

BOOST_AUTO_TEST_CASE(claims_hold_at_points_of_my_own) {
  check_claim_at("mqar_key_blind_guess", {{"n", "11"}, {"V", "20"}});
  check_claim_at("vla_mqar_baseline_is_modeguess", {{"n", "5"}, {"V", "60"}});
  check_claim_at("mqar_no_position_invariance", {{"T", "7"}, {"Dk", "4"}, {"Dv", "2"}});
}

BOOST_AUTO_TEST_CASE(three_values_out_of_eight_by_hand) {
  // All equal 1/64, two equal 21/64, all different 42/64: E[largest] / 3 = (3 + 2 * 21 + 42) / 192, and a random one of
  // them is right with (1 + 21 * 5/9 + 42 / 3) / 64 = 1/3 + 2/3 / 8.
  const Finding found = check_claim_at("mqar_key_blind_guess", {{"n", "3"}, {"V", "8"}});
  std::vector<double> laws;
  for (const Point &point : found.points)
    if (point.role == Role::obligation) laws.push_back(point.predicted);
  check_close(laws, {5.0 / 12, 87.0 / 192}, 1e-14);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
