// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"
#include "theory/variational/vla_steps.hpp"

namespace recollect {
using namespace recollect::theory;
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(eq_8_depletion)

BOOST_AUTO_TEST_CASE(claims_hold_at_points_of_my_own) {
  check_claim_at("vla_eq8_depletion", {{"d", "9"}, {"lambda0", "0.5"}, {"s", "2"}});
  check_claim_at("vla_suppression_by_a", {{"d", "4"}, {"dv", "2"}, {"repeats", "7"}});
}

BOOST_AUTO_TEST_CASE(two_depletions_by_hand) {
  // lambda0 = 1: u = e1 takes 1/2 off A(0,0); u = 2 e2 takes 4/5 off A(1,1).
  Vla layer(2, 1, 1);
  layer.update_inverse({1, 0});
  check_close(layer.A.data, {0.5, 0, 0, 1}, 0);
  layer.update_inverse({0, 2});
  check_close(layer.A.data, {0.5, 0, 0, 0.2}, 1e-16);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
