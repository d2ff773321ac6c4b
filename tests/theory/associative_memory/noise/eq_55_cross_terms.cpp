// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(eq_55_cross_terms)

BOOST_AUTO_TEST_CASE(at_points_of_our_own) {
  check_claim_at("snr_cross_terms", {{"n", "5"}, {"d", "4"}, {"dv", "6"}});
  check_claim_at("snr_value_mean", {{"n", "6"}, {"d", "9"}, {"dv", "5"}});
  check_claim_at("snr_value_norm", {{"dv", "5"}});
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
