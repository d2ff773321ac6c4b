// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"
#include "theory/variational/unit_jacobian.hpp"

namespace recollect {
using namespace recollect::theory;
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(table_2_unnormalised)

BOOST_AUTO_TEST_CASE(claims_hold_at_points_of_my_own) {
  check_claim_at("vla_unnormalised_norm_formula", {{"d", "9"}, {"a", "5"}, {"k", "2"}, {"cosine", "-0.9"}});
}

BOOST_AUTO_TEST_CASE(statements_refuse_points_where_they_do_not_apply) {
  refuse_point("vla_unnormalised_norm_formula", {{"cosine", "0"}});
}

BOOST_AUTO_TEST_CASE(norm_of_a_long_step_by_hand) {
  // I - 2 e1 e1^T reflects: norm 1, although |a||k| = 2. I - 3 e1 e1^T has norm 2.
  BOOST_TEST(largest_stretch(2, 2) == 1);
  BOOST_TEST(largest_stretch(3, 3) == 2);
  check_close(singular_values(vla_jacobian_of({3, 0}, {1, 0}, "vla_unnormalized")), {2, 1}, 1e-15);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
