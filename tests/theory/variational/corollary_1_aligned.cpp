// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"
#include "theory/variational/unit_jacobian.hpp"

namespace recollect {
using namespace recollect::theory;
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(corollary_1_aligned)

BOOST_AUTO_TEST_CASE(claims_hold_at_points_of_my_own) {
  check_claim_at("vla_c_kantorovich", {{"kappa", "2.5"}, {"d", "6"}});
  check_claim_at("vla_cor1_aligned_u", {{"d", "4"}, {"T", "15"}, {"lambda0", "2"}, {"s", "1.2"}});
  check_claim_at("vla_cor1_aligned_u_small_lambda", {{"lambda0", "1e-4"}});
}

BOOST_AUTO_TEST_CASE(statements_refuse_points_where_they_do_not_apply) {
  refuse_point("vla_cor1_aligned_u", {{"lambda0", "0.09"}});            // below golden^-5
  refuse_point("vla_cor1_aligned_u", {{"lambda0", "1"}, {"s", "3.4"}}); // the same at |u|^2 = 11.56
}

BOOST_AUTO_TEST_CASE(golden_ratio_to_the_fifth_by_hand) {
  // (5 sqrt 5 + 11) / 2 is the inverse of (5 sqrt 5 - 11) / 2: their product is (125 - 121) / 4.
  BOOST_TEST(std::fabs(std::pow(golden_ratio, 5) - (5 * std::sqrt(5.0) + 11) / 2) < 1e-14);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
