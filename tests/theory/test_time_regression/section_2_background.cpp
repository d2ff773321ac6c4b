// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(section_2_background)

BOOST_AUTO_TEST_CASE(at_points_of_our_own) {
  for (const char *id : {"linattn_recurrence", "deltanet_eq5_eq6"})
    check_claim_at(id, {{"T", "9"}, {"Dk", "7"}, {"Dv", "2"}}, 4);
}

BOOST_AUTO_TEST_CASE(two_steps_by_hand) {
  // k = (1, 0), (1, 1), v = 2, 3, q = k: M = (2, 0) reads 2, then (5, 3) reads 8.
  const Sequence s = one_head(2, {1, 0, 1, 1}, {1, 0, 1, 1}, {2, 3});
  const Output out = forward(find_variant("linear"), s);
  check_close(out.o, {2, 8}, 0);
  check_close(out.state, {5, 3}, 0);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
