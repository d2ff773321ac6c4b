// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(vignette_2_weighted)

BOOST_AUTO_TEST_CASE(at_points_of_our_own) {
  check_claim_at("decay_weights_monotone", {{"t", "5"}}, 4);
  check_claim_at("wls_eq15_over", {{"t", "9"}, {"Dk", "4"}, {"Dv", "1"}}, 4);
  check_claim_at("wls_eq15_under_weights_irrelevant", {{"t", "4"}, {"Dk", "9"}, {"Dv", "2"}}, 4);
  check_claim_at("wls_weights_irrelevant_gamma_zero", {{"t", "2"}, {"Dk", "3"}, {"Dv", "1"}}, 4);
  refuse_point("wls_eq15_over", {{"t", "4"}});
  refuse_point("wls_eq15_under_weights_irrelevant", {{"t", "5"}});
  refuse_point("wls_weights_irrelevant_gamma_zero", {{"t", "7"}});
}

BOOST_AUTO_TEST_CASE(as_many_pairs_as_dimensions_are_refused) {
  refuse_point("wls_eq15_over", {{"t", "5"}, {"Dk", "5"}});
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
