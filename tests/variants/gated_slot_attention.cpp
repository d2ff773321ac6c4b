// SPDX-License-Identifier: Apache-2.0
#include "tests/reductions.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(gated_slot_attention)

BOOST_AUTO_TEST_CASE(two_steps_by_hand) {
  // Slot 1 takes all of step 1 and half of step 2; slot 2 takes nothing of step 1 and all of step 2. With q = 0 both
  // slots have the same weight. K = [4,0] and [0,0], V = 6, 0: o_1 = 3. Then K = [3,1] and [2,2], V = 7, 8: o_2 = 7.5.
  Sequence s = one_head(2, {0, 0, 0, 0}, {4, 0, 2, 2}, {6, 8});
  s.lambda = {0, 1, 0.5, 0};
  for (const char *form : {"recurrent", "chunked"}) {
    const Output out = forward(find_variant("gated_slot_attention"), s, {form, Real::f64, 2, {}});
    check_close(out.o, {3, 7.5}, 0);
    check_close(out.state, {7, 8, 3, 1, 2, 2}, 0);
  }
  // With q_2 = [log 3, 0] the logits are 3 log 3 and 2 log 3, so that slot 1 weighs three times as much.
  s.q = {0, 0, std::log(3.0), 0};
  for (const char *form : {"recurrent", "chunked"})
    check_close(forward(find_variant("gated_slot_attention"), s, {form, Real::f64, 2, {}}).o, {3, 7.25}, 1e-14);
}

BOOST_AUTO_TEST_CASE(closed_slots_read_the_last_value) {
  Sequence s = random_sequence({1, 2, 33, 6, 5}, 51);
  s.lambda.assign(s.lambda.size(), 0.0), s.w.clear();
  for (const char *form : {"recurrent", "chunked"})
    check_close(forward(find_variant("gated_slot_attention"), s, {form, Real::f64, 16, {}}).o, s.v,
                64 * epsilon_of(Real::f64) * max_abs(s.v));
}

BOOST_AUTO_TEST_CASE(slots_that_are_filled_in_turn_are_softmax_attention) {
  // Step t replaces slot t by its own key and value and does not change the other slots: after Dk steps the slots hold
  // the keys and values.
  const int D = 8, T = 9;
  const Shape shape{1, 1, T, D, 5};
  Sequence s = random_sequence(shape, 52);
  s.lambda.assign(s.lambda.size(), 1.0), s.w.clear();
  for (int t = 0; t < D; ++t) s.lambda[t * D + t] = 0;
  Sequence first = slice_steps(s, 0, D); // the last step only reads: its query stands at step D of softmax's
  std::copy(s.q.begin() + D * D, s.q.end(), first.q.end() - D);
  const Variant &softmax = find_variant("softmax");
  const std::vector<double> wanted =
      forward(softmax, first, {"recurrent", Real::f64, 1, variant_params(softmax, {{"scale", "1"}})}).o;
  for (const char *form : {"recurrent", "chunked"}) {
    const std::vector<double> o = forward(find_variant("gated_slot_attention"), s, {form, Real::f64, 4, {}}).o;
    check_close({o.end() - 5, o.end()}, {wanted.end() - 5, wanted.end()}, 1e-13 * max_abs(s.v));
  }
}

BOOST_AUTO_TEST_CASE(one_gate_of_all_slots_reads_a_decayed_mean) {
  // Equal slots have equal weights: they hold mamba2's sum of (1 - alpha) v.
  Sequence s = random_sequence({1, 2, 40, 6, 5}, 53), sum = s;
  s.w.clear();
  for (size_t i = 0; i < s.lambda.size(); ++i) s.lambda[i] = s.alpha[i / 6];
  for (size_t t = 0; t < sum.beta.size(); ++t) sum.beta[t] = 1 - s.alpha[t];
  for (size_t i = 0; i < sum.k.size(); ++i) sum.k[i] = sum.q[i] = i % 6 == 0;
  check_reduction("gated_slot_attention", s, "mamba2", sum, {}, {}, false);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
