// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(theorem_1_parity)

BOOST_AUTO_TEST_CASE(at_points_of_our_own) {
  check_claim_at("negative_eigenvalue_parity", {{"T", "2000"}, {"d", "1"}}, 4);
  check_claim_at("parity_needs_negative_eigenvalue", {{"T", "500"}, {"beta", "0.85"}, {"d", "7"}}, 4);
  check_claim_at("parity_neither_real", {{"T", "100"}, {"d", "3"}}, 4);
  refuse_point("parity_needs_negative_eigenvalue", {{"T", "64"}, {"beta", "0.2"}});
}

BOOST_AUTO_TEST_CASE(four_bits_by_hand) {
  // k = 1, v = 1/2, beta = 2 at a 1: S becomes S + 2 (1/2 - S) = 1 - S. Bits 1 0 1 1: S = 1, 1, 0, 1.
  Sequence s = one_head(4, {1, 1, 1, 1}, {1, 1, 1, 1}, {0.5, 0.5, 0.5, 0.5});
  s.beta = {2, 0, 2, 2};
  check_close(forward(find_variant("delta_net"), s).o, {1, 1, 0, 1}, 0);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
