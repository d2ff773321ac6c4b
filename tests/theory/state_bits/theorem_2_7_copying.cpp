// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"
#include "theory/state_bits/all_texts.hpp"

namespace recollect {
using namespace recollect::theory;
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(theorem_2_7_copying)

BOOST_AUTO_TEST_CASE(at_points_of_our_own) {
  check_claim_at("copying_state_bound", {{"d", "4"}, {"more", "3"}}, 4);
  refuse_point("copying_state_bound", {{"d", "2"}, {"more", "3"}});
}

BOOST_AUTO_TEST_CASE(texts_of_three_signs_in_two_channels_by_hand) {
  // Token 2 overwrites token 0. The state is (sign of 2, sign of 1), and a text is read back where signs 0 and 2 agree.
  const Written w = write_all("delta_net", 3, 2);
  BOOST_TEST(w.different_states() == 4u);
  BOOST_TEST(w.misread(2) == 0.5);
  const size_t text = 0b110; // token 0 is -1, tokens 1 and 2 are +1
  check_close({w.state(text)[0], w.state(text)[1]}, {1, 1}, 0);
  // A sum keeps both: -1 + 1 = 0.
  check_close({write_all("linear", 3, 2).state(text)[0]}, {0}, 0);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
