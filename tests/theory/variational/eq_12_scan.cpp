// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"
#include "theory/variational/vla_steps.hpp"

namespace recollect {
using namespace recollect::theory;
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(eq_12_scan)

BOOST_AUTO_TEST_CASE(claims_hold_at_points_of_my_own) {
  check_claim_at("vla_scan_composition_associative", {{"d", "9"}});
  check_claim_at("vla_scan_eq12_recurrence", {{"T", "7"}, {"d", "4"}, {"lambda0", "0.5"}});
  check_claim_at("vla_scan_work", {{"m", "3"}, {"d", "4"}});
}

BOOST_AUTO_TEST_CASE(two_steps_by_hand) {
  // d = 1, k = a = 1: S_1 = v_1 = 2, S_2 = v_2 = 3 by Eq 10. As printed, F = 0 and G = e = 3 - 2: S_2 = 1.
  Vla memory(1, 1, 1);
  memory.step({1}, {1}, {2});
  BOOST_TEST(memory.S.data[0] == 2);
  memory.step({1}, {1}, {3});
  BOOST_TEST(memory.S.data[0] == 3);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
