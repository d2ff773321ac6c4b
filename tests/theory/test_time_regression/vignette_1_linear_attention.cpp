// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(vignette_1_linear_attention)

BOOST_AUTO_TEST_CASE(at_points_of_our_own) {
  check_claim_at("linattn_optimal_orthonormal", {{"t", "5"}, {"Dk", "6"}, {"Dv", "1"}}, 4);
  check_claim_at("linattn_optimal_only_if", {{"t", "20"}, {"Dk", "4"}, {"Dv", "3"}}, 4);
  check_claim_at("linattn_crude_covariance", {{"kappa", "0.3"}}, 4);
  refuse_point("linattn_optimal_orthonormal", {{"t", "9"}});
  refuse_point("linattn_optimal_only_if", {{"t", "3"}});
  refuse_point("linattn_crude_covariance", {{"kappa", "1"}});
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
