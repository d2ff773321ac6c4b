// SPDX-License-Identifier: Apache-2.0
#include "tests/testing.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(linear)

BOOST_AUTO_TEST_CASE(two_steps_by_hand) {
  // S_1 = v_1 k_1^T = [[3,6]]; o_1 = S_1 q_1 = 3.  S_2 = [[3,6]] + 5 [1,-1] = [[8,1]]; o_2 = 8*2 + 1*1 = 17.
  const Sequence s = one_head(2, {1, 0, 2, 1}, {1, 2, 1, -1}, {3, 5});
  const Output out = forward(find_variant("linear"), s);
  check_close(out.o, {3, 17}, 0);
  check_close(out.state, {8, 1}, 0);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
