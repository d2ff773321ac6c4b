// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"
#include "theory/state_bits/all_texts.hpp"

namespace recollect {
using namespace recollect::theory;
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(theorem_3_1_recall)

BOOST_AUTO_TEST_CASE(at_points_of_our_own) { check_claim_at("recall_state_bits", {{"N", "5"}}, 4); }

BOOST_AUTO_TEST_CASE(two_signs_by_hand) {
  const Written w = write_all("delta_net", 2, 2);
  BOOST_TEST(w.different_states() == 4u);
  BOOST_TEST(w.misread(2) == 0);
  BOOST_TEST(w.misread(1) == 0.5); // the second sign is taken for +1
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
