// SPDX-License-Identifier: Apache-2.0
#include "tests/reductions.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(gla)

BOOST_AUTO_TEST_CASE(two_steps_by_hand) {
  // S_1 = 3 (1,2), S_2 = (0.5*3, 0.25*6) + 5 (1,-1); read with q = (2,1).
  Sequence s = one_head(2, {2, 1, 2, 1}, {1, 2, 1, -1}, {3, 5});
  s.lambda = {1, 1, 0.5, 0.25};
  const Output out = forward(find_variant("gla"), s);
  check_close(out.o, {12, 9.5}, 0);
  check_close(out.state, {6.5, -3.5}, 0);
}

BOOST_AUTO_TEST_CASE(is_gated_linear) {
  Sequence s = random_sequence({1, 2, 40, 6, 5}, 5);
  check_reduction("gla", s, "gated_linear", s);
  s.alpha.clear();
  check_reduction("gla", s, "gated_linear", s);
  s.lambda.assign(s.lambda.size(), 1);
  check_reduction("gla", s, "linear", s);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
