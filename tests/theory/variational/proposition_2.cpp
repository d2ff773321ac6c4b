// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"
#include "theory/variational/unit_jacobian.hpp"

namespace recollect {
using namespace recollect::theory;
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(proposition_2)

BOOST_AUTO_TEST_CASE(claims_hold_at_points_of_my_own) {
  check_claim_at("vla_prop2_unit_jacobian", {{"d", "11"}, {"c", "-0.2"}});
  check_claim_at("vla_eq22_identity", {{"a", "-0.7"}, {"b", "0.25"}});
  check_claim_at("vla_prop2_proof_x_eq_k", {{"d", "3"}, {"c", "0.9"}});
  check_claim_at("vla_prop2_eigenvalues", {{"d", "12"}, {"c", "0"}});
  check_claim_at("vla_appa2_special_cases", {{"d", "20"}});
  check_claim_at("vla_jacobian_form", {{"d", "4"}, {"dv", "9"}});
}

BOOST_AUTO_TEST_CASE(statements_refuse_points_where_they_do_not_apply) {
  refuse_point("vla_prop2_unit_jacobian", {{"c", "1"}}); // the one case in which it is true
  refuse_point("vla_eq22_identity", {{"a", "1"}});
  refuse_point("vla_prop2_proof_x_eq_k", {{"c", "-1"}});
  refuse_point("vla_prop2_eigenvalues", {{"c", "1"}});
}

BOOST_AUTO_TEST_CASE(smallest_counter_example_by_hand) {
  // J = I - e2 e1^T = [[1,0],[-1,1]]: J^T J = [[2,-1],[-1,1]] has eigenvalues (3 +- sqrt 5)/2, the square of the golden
  // ratio and its inverse.
  const Dense J = vla_jacobian_of({0, 1}, {1, 0});
  check_close(J.data, {1, 0, -1, 1}, 0);
  check_close(singular_values(J), {(1 + std::sqrt(5.0)) / 2, (std::sqrt(5.0) - 1) / 2}, 1e-15);
  BOOST_TEST(std::fabs(golden_ratio - 1.618033988749895) < 1e-15);
}

BOOST_AUTO_TEST_CASE(a_pair_has_the_angle_asked_for) {
  const UnitPair x = unit_pair(7, -0.4, Stream(1, "test"), 3);
  BOOST_TEST(std::fabs(norm(x.a) - 1) < 1e-15);
  BOOST_TEST(std::fabs(inner(x.a, x.k) + 0.4) < 1e-15);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
