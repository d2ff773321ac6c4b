// SPDX-License-Identifier: Apache-2.0
#include "tests/gates.hpp"
#include "tests/reductions.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(gated_delta_net2)

BOOST_AUTO_TEST_CASE(two_steps_by_hand) {
  // S_1 = 0.5 * 4 [1,2] = [2,4]; o_1 = 6. Step 2: the state decays to [2,1], at w_2 = [0,3] it reads 3, the residual is
  // 5 - 3 = 2, S_2 = [2,1] + 0.25 * 2 [1,-1] = [2.5,0.5]; o_2 = 8.
  Sequence s = one_head(2, {1, 1, 3, 1}, {1, 2, 1, -1}, {4, 5});
  s.beta = {0.5, 0.25}, s.lambda = {1, 1, 1, 0.25}, s.w = {5, 7, 0, 3};
  for (const char *form : {"recurrent", "chunked"}) {
    const Output out = forward(find_variant("gated_delta_net2"), s, {form, Real::f64, 2, {}});
    check_close(out.o, {6, 8}, 0);
    check_close(out.state, {2.5, 0.5}, 0);
  }
}

BOOST_AUTO_TEST_CASE(with_equal_strengths_it_is_kda) {
  Sequence s = random_sequence({2, 2, 70, 9, 5}, 51);
  s.w = s.k;
  check_reduction("kda", s, "gated_delta_net2", s);
  Sequence folded = s; // the strengths b = w = beta folded into the inputs, as in the source
  for (size_t i = 0; i < s.w.size(); ++i) folded.w[i] *= s.beta[i / 9];
  for (size_t i = 0; i < s.v.size(); ++i) folded.v[i] *= s.beta[i / 5];
  folded.beta.clear();
  check_reduction("kda", s, "gated_delta_net2", folded);
}

BOOST_AUTO_TEST_CASE(with_one_decay_for_all_channels_it_is_comba) {
  Sequence s = random_sequence({2, 2, 70, 9, 5}, 52);
  for (size_t i = 0; i < s.lambda.size(); ++i) s.lambda[i] = s.alpha[i / 9];
  check_reduction("comba", s, "gated_delta_net2", s);
}

BOOST_AUTO_TEST_CASE(channels_whose_erase_strength_is_0_are_never_read) {
  // b = [1,0]: channel 2 of the state does not contribute to the error.
  Sequence s = one_head(1, {1, 0}, {1, 1}, {7}), other = s;
  s.w = other.w = {1, 0}, s.lambda = other.lambda = {0.5, 0.5};
  s.state = {4, 6}, other.state = {4, -60};
  check_close(forward(find_variant("gated_delta_net2"), s).o, {7}, 0); // 2 + (7 - 2)
  check_close(forward(find_variant("gated_delta_net2"), other).o, {7}, 0);
}

BOOST_AUTO_TEST_CASE(small_channel_decays_neither_overflow_nor_lose_what_follows) {
  Sequence s = random_sequence({1, 1, 200, 6, 4}, 53);
  s.lambda = harsh_gates(s.lambda.size());
  chunks_give_the_definition("gated_delta_net2", s);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
