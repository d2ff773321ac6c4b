// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(vignette_3_batch_descent)

BOOST_AUTO_TEST_CASE(at_points_of_our_own) {
  check_claim_at("ls_gradient_hessian", {{"t", "6"}, {"Dk", "7"}, {"Dv", "2"}}, 4);
  check_claim_at("gd_eq20_23", {{"t", "9"}, {"Dk", "4"}, {"Dv", "1"}, {"steps", "3"}}, 4);
  check_claim_at("linattn_one_gd_step", {{"T", "7"}, {"Dk", "3"}, {"Dv", "2"}}, 4);
  check_claim_at("gated_linattn_one_gd_step", {{"T", "7"}, {"Dk", "3"}, {"Dv", "2"}}, 4);
  check_claim_at("ls_one_newton_step", {{"t", "11"}, {"Dk", "3"}, {"Dv", "2"}}, 4);
  refuse_point("ls_one_newton_step", {{"t", "5"}});
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
