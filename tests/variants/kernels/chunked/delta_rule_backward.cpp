// SPDX-License-Identifier: Apache-2.0
#include "variants/kernels/chunked/delta_rule_backward.hpp"
#include "tests/variants/kernels/gradients.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(delta_rule_gradients)

BOOST_AUTO_TEST_CASE(two_steps_by_hand) {
  // S_1 = b_1 v_1 k_1, e_2 = v_2 - a_2 S_1 k_2, S_2 = a_2 S_1 + b_2 e_2 k_2, o_2 = q_2 S_2 alone in the loss. What reaches
  // S_1 is q_2 a_2 (1 - b_2 k_2^2).
  const double q = 3, k1 = 0.5, k2 = 1.5, v1 = 4, v2 = -2, b1 = 0.5, b2 = 0.25, a2 = 0.75;
  Sequence s = one_head(2, {1, q}, {k1, k2}, {v1, v2});
  s.beta = {b1, b2}, s.alpha = {0.9, a2};
  const double S1 = b1 * v1 * k1, e2 = v2 - a2 * S1 * k2, S2 = a2 * S1 + b2 * e2 * k2, back = q * (1 - b2 * k2 * k2);
  for (int C : {1, 2}) {
    const Sequence d = gradients("gated_delta_net", s, C, {0, 1});
    check_close(d.q, {0, S2}, rounding);
    check_close(d.v, {back * a2 * b1 * k1, q * b2 * k2}, rounding);
    check_close(d.k, {back * a2 * b1 * v1, q * b2 * (e2 - a2 * S1 * k2)}, rounding);
    check_close(d.beta, {back * a2 * v1 * k1, q * e2 * k2}, rounding);
    check_close(d.alpha, {0, back * S1}, rounding);
    Sequence channels = s;
    channels.lambda = s.alpha; // one channel
    const Sequence by_steps = gradients("kda", channels, C, {0, 1});
    check_close(by_steps.q, {0, S2}, rounding);
    check_close(by_steps.v, {back * a2 * b1 * k1, q * b2 * k2}, rounding);
    check_close(by_steps.k, {back * a2 * b1 * v1, q * b2 * (e2 - a2 * S1 * k2)}, rounding);
    check_close(by_steps.beta, {back * a2 * v1 * k1, q * e2 * k2}, rounding);
    check_close(by_steps.lambda, {0, back * S1}, rounding);
  }
}

BOOST_AUTO_TEST_CASE(a_value_overwritten_has_no_gradient) {
  // A unit key written again with beta = 1: later outputs contain nothing of the first value.
  Sequence s = one_head(3, {2, 2, 2}, {1, 1, 1}, {5, 7, 9});
  s.beta = {1, 1, 1};
  for (int C : {1, 2, 3}) check_close(gradients("delta_net", s, C, {0, 0, 1}).v, {0, 0, 2}, 0);
}

BOOST_AUTO_TEST_CASE(rules_whose_gradients_are_not_here_are_refused) {
  const Array<double> some("some", 4);
  const auto refuse = [](const variants::DeltaRule<double> &rule) {
    BOOST_CHECK_THROW(variants::delta_rule_vjp("rule", BackwardCall<double>(), rule, {}), std::logic_error);
  };
  variants::DeltaRule<double> twice, own_keys;
  twice.steps = 2, own_keys.keys = some;
  refuse(twice), refuse(own_keys);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
