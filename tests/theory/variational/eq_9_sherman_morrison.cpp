// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"
#include "theory/variational/vla_steps.hpp"

namespace recollect {
using namespace recollect::theory;
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(eq_9_sherman_morrison)

BOOST_AUTO_TEST_CASE(claims_hold_at_points_of_my_own) {
  check_claim_at("sherman_morrison_exact", {{"T", "300"}, {"d", "10"}, {"lambda0", "0.5"}});
  check_claim_at("sherman_morrison_refresh_bias", {{"T", "300"}, {"d", "24"}, {"period", "10"}, {"eta", "0.002"}});
  check_claim_at("sm_delta_ge_1", {{"T", "400"}, {"d", "12"}, {"lambda0", "0.2"}});
  check_claim_at("sm_delta_f32_repeated_u", {{"d", "24"}});
}

BOOST_AUTO_TEST_CASE(one_update_by_hand) {
  // lambda0 = 1, u = e1: A_1 = diag(1/2, 1).
  Vla memory(2, 1, 1);
  memory.update_inverse({1, 0});
  check_close(memory.A.data, {0.5, 0, 0, 1}, 0);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
