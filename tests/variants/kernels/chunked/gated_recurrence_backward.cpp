// SPDX-License-Identifier: Apache-2.0
#include "tests/variants/kernels/gradients.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(gated_recurrence_gradients)

BOOST_AUTO_TEST_CASE(three_steps_by_hand) {
  // o_3 = q_3 (a_3 a_2 k_1 v_1 + a_3 k_2 v_2 + k_3 v_3), alone in the loss.
  Sequence s = one_head(3, {7, 9, 2}, {3, 5, 1}, {4, -2, 6});
  s.alpha = {0.75, 0.5, 0.25};
  for (int C : {1, 2, 3}) {
    const Sequence d = gradients("gated_linear", s, C, {0, 0, 1});
    check_close(d.q, {0, 0, 0.125 * 12 - 0.25 * 10 + 6}, 0);
    check_close(d.k, {2 * 0.125 * 4, 2 * 0.25 * -2, 2 * 6}, 0);
    check_close(d.v, {2 * 0.125 * 3, 2 * 0.25 * 5, 2}, 0);
    check_close(d.alpha, {0, 2 * 0.25 * 12, 2 * (0.5 * 12 - 10)}, rounding);
  }
}

BOOST_AUTO_TEST_CASE(later_steps_owe_nothing_to_earlier_outputs) {
  const Sequence s = random_sequence({1, 1, 12, 3, 2}, 303);
  std::vector<double> d_o(12 * 2, 0);
  d_o[4 * 2] = 1; // the gradient of step 4
  const Sequence d = gradients("gated_linear", s, 4, d_o);
  const auto past = [](const std::vector<double> &x, int width) {
    return max_abs(std::vector<double>(x.begin() + 5 * width, x.end()));
  };
  BOOST_TEST(
      (past(d.q, 3) == 0 && past(d.k, 3) == 0 && past(d.v, 2) == 0 && past(d.alpha, 1) == 0 && past(d.lambda, 3) == 0));
  BOOST_TEST((max_abs(d.k) > 0 && max_abs(d.v) > 0 && max_abs(d.alpha) > 0 && max_abs(d.lambda) > 0));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
