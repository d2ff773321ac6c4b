// SPDX-License-Identifier: Apache-2.0
#include "tests/testing.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(scalar_gated_delta)

BOOST_AUTO_TEST_CASE(two_steps_by_hand) {
  // S_1 = 4 [1,2] = [4,8]; o_1 = 12. Step 2: reads -4, residual 10, S_2 = 0.5 [4,8] + 10 [1,-1] = [12,-6]; o_2 = 30.
  Sequence s = one_head(2, {1, 1, 3, 1}, {1, 2, 1, -1}, {4, 6});
  s.beta = {1, 0.5};
  for (const char *form : {"recurrent", "chunked"}) {
    const Output out = forward(find_variant("scalar_gated_delta"), s, {form, Real::f64, 2, {}});
    check_close(out.o, {12, 30}, 0);
    check_close(out.state, {12, -6}, 0);
  }
}

BOOST_AUTO_TEST_CASE(with_an_open_gate_it_is_delta_net_with_step_one) {
  Sequence s = random_sequence({2, 2, 70, 9, 5}, 61);
  s.beta.assign(s.beta.size(), 1);
  const Output a = forward(find_variant("scalar_gated_delta"), s), b = forward(find_variant("delta_net"), s);
  const double kappa = input_condition(find_variant("delta_net"), s, {});
  BOOST_TEST(deviation(a, b).largest() <= accumulated_terms(s.shape, 1) * epsilon_of(Real::f64) * kappa);
}

BOOST_AUTO_TEST_CASE(orthonormal_keys_are_stored_exactly_and_fade_by_the_gate) {
  // S k_i = v_i times the gates after it.
  Sequence s = one_head(3, {1, 0, 0, 1, 0, 0, 1, 0, 0}, {1, 0, 0, 0, 1, 0, 0, 0, 1}, {8, 3, 5});
  s.beta = {0.25, 0.5, 0.25};
  check_close(forward(find_variant("scalar_gated_delta"), s).o, {8, 4, 1}, 0);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
