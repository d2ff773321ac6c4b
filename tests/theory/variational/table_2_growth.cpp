// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"
#include "theory/variational/unnormalised_readings.hpp"

namespace recollect {
using namespace recollect::theory;
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(table_2_growth)

BOOST_AUTO_TEST_CASE(claims_hold_at_points_of_my_own) {
  check_claim_at("vla_table2_law_d_over_lambda0", {{"d", "6"}, {"lambda0", "0.15"}});
}

BOOST_AUTO_TEST_CASE(moments_of_the_feature_map) {
  // E (elu + 1) = (1/2 + phi(0)) + e^(1/2) Phi(-1); E (elu + 1)^2 = (1 + 2 phi(0)) + e^2 Phi(-2).
  BOOST_TEST(std::fabs(elu1_mean() - (0.5 + 0.3989422804 + 1.6487212707 * 0.1586552539)) < 1e-9);
  BOOST_TEST(std::fabs(elu1_mean_square() - (1 + 0.7978845608 + 7.3890560989 * 0.0227501319)) < 1e-9);
}

BOOST_AUTO_TEST_CASE(power_iteration_finds_the_norm) {
  BOOST_TEST(std::fabs(power_norm(Dense(2, 2, {1, 0, -8, 1}), {1, 0}) - (std::sqrt(68.0) + 8) / 2) < 1e-13);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
