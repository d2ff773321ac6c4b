// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(stress_test)

BOOST_AUTO_TEST_CASE(at_points_of_its_own) {
  check_claim_at("stress_linear_vs_round", {{"n", "190"}, {"d", "128"}});
  check_claim_at("stress_participation", {{"n", "40"}, {"swaps", "55"}});
  check_claim_at("swap_householder", {{"d", "17"}});
  check_claim_at("rope_breaks_construction", {{"n", "6"}, {"d", "12"}, {"swaps", "30"}, {"base", "500"}});
  refuse_point("stress_linear_vs_round", {{"n", "100"}, {"d", "128"}});
  refuse_point("rope_breaks_construction", {{"n", "6"}, {"d", "7"}});
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
