// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(notation)

BOOST_AUTO_TEST_CASE(claims_hold_at_points_of_my_own) {
  check_claim_at("vla_eq3_transposition", {{"T", "5"}, {"d", "9"}});
  check_claim_at("vla_eq11_output_scale", {{"T", "600"}, {"d", "16"}});
  check_claim_at("vla_internal_u_scale", {{"T", "80"}, {"d", "10"}});
  check_claim_at("vla_internal_khat", {{"d", "12"}});
}

BOOST_AUTO_TEST_CASE(one_step_of_algorithm_1_by_hand) {
  // d = 1, k = 1: phi = 2, khat = 1, S = v = 3; reading with q = 1: 3 * 2 / (2 * 2).
  const Variant &vla = find_variant("vla");
  check_close(forward(vla, one_head(1, {1}, {1}, {3})).o, {1.5}, 1e-15);
}

BOOST_AUTO_TEST_CASE(elu_is_another_similarity) {
  check_claim_at("elu_approximates_exp", {{"d", "7"}});
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
