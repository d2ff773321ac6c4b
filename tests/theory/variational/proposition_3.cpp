// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"
#include "theory/variational/associations.hpp"

namespace recollect {
using namespace recollect::theory;
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(proposition_3)

BOOST_AUTO_TEST_CASE(claims_hold_at_points_of_my_own) {
  check_claim_at("vla_prop3_exact_recovery", {{"n", "4"}, {"d", "11"}, {"lambda0", "0.5"}});
  check_claim_at("vla_prop3_orthogonal_keys", {{"n", "8"}, {"d", "8"}, {"lambda0", "0.01"}});
  check_claim_at("vla_prop3_min_counterexample", {{"lambda0", "0.37"}});
  check_claim_at("rls_exact_recovery_law", {{"n", "5"}, {"d", "9"}, {"lambda0", "0.05"}});
  check_claim_at("vla_capacity_rank", {{"n", "30"}, {"d", "20"}});
  refuse_point("vla_prop3_exact_recovery", {{"n", "12"}, {"d", "11"}});
  refuse_point("vla_capacity_rank", {{"n", "20"}, {"d", "20"}});
}

BOOST_AUTO_TEST_CASE(the_second_of_two_keys_by_hand) {
  // lambda0 = 1, u = k, k_1 = e1, k_2 = e2, v = 1, 1: orthogonal keys, both are read back.
  const Pairs x{Dense::identity(2), Dense(2, 1, {1, 1})};
  check_close((written(x, x.K, 1).S * transpose(x.K)).data, {1, 1}, 0);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
