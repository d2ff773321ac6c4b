// SPDX-License-Identifier: Apache-2.0
#include "tests/reductions.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(abc)

BOOST_AUTO_TEST_CASE(two_steps_by_hand) {
  // Slot 1 weighs the steps 1 : 3, slot 2 weighs them 1 : 1; q_1 = 0, and one step is its own mean: o_1 = 4. Then K =
  // [4,3] / 4 + ... = [1,3] and [2,2], V = 7, 6. q_2 = [0, log 2] gives the logits 3 log 2 and 2 log 2, weights 2 : 1.
  Sequence s = one_head(2, {0, 0, 0, std::log(2.0)}, {4, 0, 0, 4}, {4, 8});
  s.w = {0, 5, std::log(3.0), 5};
  for (const char *form : {"recurrent", "chunked"}) {
    const Output out = forward(find_variant("abc"), s, {form, Real::f64, 2, {}});
    check_close(out.o, {4, 20.0 / 3}, 1e-14);
    check_close(out.state, {7, 6, 1, 3, 2, 2, std::log(4.0), 5 + std::log(2.0)}, 1e-14);
  }
}

BOOST_AUTO_TEST_CASE(is_gated_slot_attention_with_the_means_own_gates) {
  Sequence s = random_sequence({2, 2, 40, 6, 5}, 91), gates = s;
  gates.w.clear();
  for (size_t head = 0; head < s.shape.heads(); ++head)
    for (int m = 0; m < 6; ++m) {
      double before = 0;
      for (int t = 0; t < 40; ++t) {
        const size_t at = (head * 40 + t) * 6 + m;
        const double sum = before + std::exp(s.w[at]);
        gates.lambda[at] = before / sum, before = sum;
      }
    }
  check_reduction("gated_slot_attention", gates, "abc", s, {}, {}, false);
}

BOOST_AUTO_TEST_CASE(logits_of_any_size_are_shifts) {
  // A number added to all logits of a slot changes nothing, however large it is; z is shifted by it.
  const Sequence s = random_sequence({1, 2, 33, 6, 5}, 92);
  Sequence other = s;
  for (size_t i = 0; i < s.w.size(); ++i) other.w[i] += i % 6 == 2 ? 1024 : i % 6 == 3 ? -1024 : 0;
  const Variant &variant = find_variant("abc");
  for (const char *form : {"recurrent", "chunked"})
    check_close(forward(variant, s, {form, Real::f64, 8, {}}).o, forward(variant, other, {form, Real::f64, 8, {}}).o,
                1e-10);
}

BOOST_AUTO_TEST_CASE(a_slot_for_every_step_is_softmax_attention) {
  // Step t weighs e^50 in slot t, 1 elsewhere: after Dk steps slot t holds pair t, to e^-50.
  const int D = 8;
  Sequence s = random_sequence({1, 1, D, D, 5}, 93);
  s.w.assign(s.w.size(), 0.0);
  for (int t = 0; t < D; ++t) s.w[t * D + t] = 50;
  const Variant &softmax = find_variant("softmax");
  const std::vector<double> wanted =
      forward(softmax, s, {"recurrent", Real::f64, 1, variant_params(softmax, {{"scale", "1"}})}).o;
  const std::vector<double> o = forward(find_variant("abc"), s).o;
  check_close({o.end() - 5, o.end()}, {wanted.end() - 5, wanted.end()}, 1e-13 * max_abs(s.v));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
