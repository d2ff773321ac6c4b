// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(figure_4)

BOOST_AUTO_TEST_CASE(claims_hold_at_points_of_my_own) {
  check_claim_at("linattn_norm_ot", {{"d", "5"}, {"T", "9"}});
  check_claim_at("deltanet_eq4_bounded", {{"d", "3"}, {"beta", "0.7"}});
}

BOOST_AUTO_TEST_CASE(two_steps_of_eq_4_by_hand) {
  // d = 1, k = 1, beta = 1/2: S_1 = v_1, S_2 = v_1 / 2 + (v_2 - v_1).
  Sequence s = one_head(2, {1, 1}, {1, 1}, {3, -3});
  s.beta = {0.5, 0.5};
  check_close(forward(find_variant("scalar_gated_delta"), s).state, {-4.5}, 0);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
