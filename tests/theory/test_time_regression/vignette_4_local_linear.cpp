// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(vignette_4_local_linear)

BOOST_AUTO_TEST_CASE(claims_hold_at_points_of_my_own) {
  check_claim_at("local_linear_eq52_54", {{"T", "20"}, {"Dk", "3"}, {"Dv", "1"}});
  check_claim_at("local_linear_affine_exact", {{"T", "17"}, {"Dk", "7"}, {"Dv", "4"}});
  check_claim_at("local_linear_underdetermined", {{"T", "14"}, {"Dk", "5"}, {"Dv", "3"}});
}

BOOST_AUTO_TEST_CASE(statements_refuse_points_where_they_do_not_apply) {
  refuse_point("local_linear_eq52_54", {{"T", "7"}, {"Dk", "5"}});
  refuse_point("local_linear_underdetermined", {{"T", "9"}, {"Dk", "5"}});
}

BOOST_AUTO_TEST_CASE(a_line_through_two_points) {
  // Keys 0 and 2, values 1 and 5, asked at 3: the line 1 + 2 k gives 7, whatever the weights.
  const Variant &v = find_variant("local_linear");
  const Sequence s = one_head(2, {3, 3}, {0, 2}, {1, 5});
  check_close({forward(v, s, {"recurrent", Real::f64, 1, variant_params(v, {{"ridge", "1e-12"}})}).o[1]}, {7}, 1e-9);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
