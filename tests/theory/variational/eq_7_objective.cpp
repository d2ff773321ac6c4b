// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"
#include "theory/variational/associations.hpp"

namespace recollect {
using namespace recollect::theory;
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(eq_7_objective)

BOOST_AUTO_TEST_CASE(claims_hold_at_points_of_my_own) {
  check_claim_at("vla_eq17_batch_minimiser", {{"n", "11"}, {"d", "6"}, {"lambda0", "0.5"}});
  check_claim_at("vla_eq17_shrinkage", {{"n", "7"}, {"d", "9"}, {"lambda0", "0.02"}});
  check_claim_at("vla_eq10_solves_eq7", {{"n", "3"}, {"d", "12"}, {"lambda0", "1"}});
  refuse_point("vla_eq17_shrinkage", {{"n", "10"}, {"d", "9"}});
  refuse_point("vla_eq10_solves_eq7", {{"n", "5"}, {"d", "9"}});
}

BOOST_AUTO_TEST_CASE(two_steps_by_hand) {
  // lambda0 = 1, u = k. A_1 = diag(1/2, 1), a_1 = e1, S_1 = (2, 0).
  // k_2 = e2: A_2 = diag(1/2, 1/2), a_2 = e2, residual 3 - 0: S_2 = (2, 3). The minimiser of Eq 7 is a third of it.
  const Pairs x{Dense::identity(2), Dense(2, 1, {2, 3})};
  check_close(written(x, x.K, 1).S.data, {2, 3}, 0);
  check_close(closed_form(x, penalty(x.K, 1)).data, {2.0 / 3, 1}, 1e-15);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
