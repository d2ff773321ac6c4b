// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"
#include "theory/variational/vla_steps.hpp"

namespace recollect {
using namespace recollect::theory;
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(proposition_1)

BOOST_AUTO_TEST_CASE(claims_hold_at_points_of_my_own) {
  check_claim_at("vla_prop1_telescoped_bound", {{"d", "3"}, {"T", "70"}});
  check_claim_at("vla_prop1_residual", {{"d", "3"}, {"aligned", "1"}});
  check_claim_at("vla_prop1_plateau", {{"d", "3"}, {"aligned", "1"}});
  check_claim_at("vla_prop1_consistent_data", {{"cosine", "0.35"}});
}

BOOST_AUTO_TEST_CASE(statements_refuse_points_where_they_do_not_apply) {
  refuse_point("vla_prop1_consistent_data", {{"cosine", "0"}}); // no error is left to shrink
}

BOOST_AUTO_TEST_CASE(two_steps_by_hand) {
  // lambda0 = 1, u = k. A_1 = diag(1/2, 1), a_1 = e1, S_1 = (2, 0), |e_1| = 2. k_2 = (3, 4) / 5 with u = 0: A_1 k_2 is
  // (0.3, 0.8), and e_2 = 3 - 1.2.
  Vla memory(2, 1, 1);
  memory.step({1, 0}, {1, 0}, {2});
  BOOST_TEST(memory.residual == 2);
  memory.step({0.6, 0.8}, {0, 0}, {3});
  BOOST_TEST(std::fabs(memory.residual - 1.8) < 1e-15);
  check_close(memory.a, {0.3 / std::sqrt(0.73), 0.8 / std::sqrt(0.73)}, 1e-15);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
