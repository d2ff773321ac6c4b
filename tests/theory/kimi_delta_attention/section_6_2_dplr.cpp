// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(section_6_2_dplr)

BOOST_AUTO_TEST_CASE(at_points_of_our_own) {
  for (const char *id : {"kda_dplr", "kda_gradient_step", "kda_reductions"})
    check_claim_at(id, {{"T", "21"}, {"Dk", "7"}, {"Dv", "2"}}, 4);
}

BOOST_AUTO_TEST_CASE(one_token_by_hand) {
  // S = (2, 4), lambda = (1/2, 1/4): S' = (1, 1). k = (1, 1), v = 4, beta = 1/2: S' + (4 - 2) / 2 k^T = (2, 2).
  // D - a b^T, transposed: diag(lambda) - (lambda . k)(beta k)^T = (1/4, -1/4; -1/8, 1/8), so S of it is (0, 0); beta v k^T
  // is (2, 2).
  Sequence s = one_head(1, {1, 1}, {1, 1}, {4});
  s.beta = {0.5}, s.lambda = {0.5, 0.25}, s.state = {2, 4};
  check_close(forward(find_variant("kda"), s).state, {2, 2}, 0);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
