// SPDX-License-Identifier: Apache-2.0
#include "examine.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(paper_002)

BOOST_AUTO_TEST_CASE(claims_come_out_as_stated) { check_claims({"blog_*"}); }

BOOST_AUTO_TEST_CASE(one_write_by_hand) {
  // S = [[1, 2]], k = (1, 0), v = 5, beta = 1/2: S k = 1, S' = S + (5 - 1)/2 k^T = [[3, 2]].
  Sequence s = one_head(1, {1, 0}, {1, 0}, {5});
  s.beta = {0.5}, s.state = {1, 2};
  const Output out = forward(find_variant("delta_net"), s);
  check_close(out.state, {3, 2}, 0);
  check_close(out.o, {3}, 0); // (1 - beta) 1 + beta 5
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
