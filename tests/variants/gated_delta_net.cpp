// SPDX-License-Identifier: Apache-2.0
#include "tests/testing.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(gated_delta_net)

BOOST_AUTO_TEST_CASE(two_steps_by_hand) {
  // S_1 = 0.5 * 4 [1,2] = [2,4]; o_1 = 6.
  // Step 2: 0.5 S_1 = [1,2], at k_2 it reads 1 - 2 = -1, residual 3 - (-1) = 4, S_2 = [1,2] + 0.25 * 4 [1,-1] = [2,1];
  // o_2 = 7.
  Sequence s = one_head(2, {1, 1, 3, 1}, {1, 2, 1, -1}, {4, 3});
  s.beta = {0.5, 0.25}, s.alpha = {1, 0.5};
  for (const char *form : {"recurrent", "chunked"}) {
    const Output out = forward(find_variant("gated_delta_net"), s, {form, Real::f64, 2, {}});
    check_close(out.o, {6, 7}, 0);
    check_close(out.state, {2, 1}, 0);
  }
}

BOOST_AUTO_TEST_CASE(without_decay_it_is_delta_net) {
  Sequence s = random_sequence({2, 2, 70, 9, 5}, 12);
  s.alpha.assign(s.alpha.size(), 1);
  const Output plain = forward(find_variant("delta_net"), s), gated = forward(find_variant("gated_delta_net"), s);
  const double bound =
      accumulated_terms(s.shape, 1) * epsilon_of(Real::f64) * input_condition(find_variant("delta_net"), s, {});
  BOOST_TEST(deviation(gated, plain).largest() <= bound);
}

BOOST_AUTO_TEST_CASE(a_closed_gate_forgets_everything) {
  Sequence s = random_sequence({1, 1, 66, 6, 4}, 13);
  for (double gate : {0.0, 1e-8}) {
    s.alpha.assign(66, 1.0);
    s.alpha[64] = gate;
    const Output whole = forward(find_variant("gated_delta_net"), s, {"chunked", Real::f64, 64, {}});
    const Output last = forward(find_variant("gated_delta_net"), slice_steps(s, 64, 66));
    // At most the product of the gates survives of the earlier state.
    check_close(whole.state, last.state, gate * 6 * max_abs(s.v) + 66 * epsilon_of(Real::f64) * max_abs(s.v));
  }
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
