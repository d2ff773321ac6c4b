// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"
#include "theory/variational/vla_steps.hpp"

namespace recollect {
using namespace recollect::theory;
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(vla_inverse)

BOOST_AUTO_TEST_CASE(claims_come_out_as_stated) {
  check_claims({"rls_eq6_*", "rls_pre_update_gain", "rls_exact_recovery_law", "vla_post_vs_pre_direction",
                "vla_whitening_direction", "vla_eq17_*", "vla_eq10_solves_eq7", "vla_prop3_*", "sherman_morrison_*",
                "sm_delta_*"});
}

BOOST_AUTO_TEST_CASE(two_steps_by_hand) {
  // lambda0 = 1, u = k. A_1 = diag(1/2, 1), a_1 = e1, S_1 = (2, 0).
  // k_2 = e2: A_2 = diag(1/2, 1/2), a_2 = e2, residual 3 - 0: S_2 = (2, 3).
  Vla memory(2, 1, 1);
  memory.step({1, 0}, {1, 0}, {2});
  check_close(memory.A.data, {0.5, 0, 0, 1}, 0);
  memory.step({0, 1}, {0, 1}, {3});
  check_close(memory.A.data, {0.5, 0, 0, 0.5}, 0);
  check_close(memory.S.data, {2, 3}, 0);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
