// SPDX-License-Identifier: Apache-2.0
#include "tests/gates.hpp"
#include "tests/reductions.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(kda)

BOOST_AUTO_TEST_CASE(two_steps_by_hand) {
  // S_1 = 0.5 * 4 [1,2] = [2,4]; o_1 = 6.
  // Step 2: the state decays to [2,1], at k_2 it reads 2 - 1 = 1, the residual is 3 - 1 = 2,
  // S_2 = [2,1] + 0.25 * 2 [1,-1] = [2.5,0.5]; o_2 = 8. (The residual before the decay would be 3 - (2 - 4) = 5.)
  Sequence s = one_head(2, {1, 1, 3, 1}, {1, 2, 1, -1}, {4, 3});
  s.beta = {0.5, 0.25}, s.lambda = {1, 1, 1, 0.25};
  for (const char *form : {"recurrent", "chunked"}) {
    const Output out = forward(find_variant("kda"), s, {form, Real::f64, 2, {}});
    check_close(out.o, {6, 8}, 0);
    check_close(out.state, {2.5, 0.5}, 0);
  }
}

/// A sequence whose channels all decay by alpha_t.
Sequence with_equal_channels(Sequence s) {
  for (size_t i = 0; i < s.lambda.size(); ++i) s.lambda[i] = s.alpha[i / s.shape.Dk];
  return s;
}

BOOST_AUTO_TEST_CASE(with_one_decay_for_all_channels_it_is_gated_delta_net) {
  const Sequence s = with_equal_channels(random_sequence({2, 2, 70, 9, 5}, 31));
  check_reduction("gated_delta_net", s, "kda", s);
}

BOOST_AUTO_TEST_CASE(without_decay_it_is_delta_net) {
  Sequence s = random_sequence({2, 2, 70, 9, 5}, 32);
  s.lambda.assign(s.lambda.size(), 1);
  check_reduction("delta_net", s, "kda", s);
}

BOOST_AUTO_TEST_CASE(the_decay_comes_before_the_error) { // rwkv7 computes the error first: another layer
  Sequence s = with_equal_channels(random_sequence({1, 1, 40, 9, 5}, 33)), other = s;
  other.w = s.k; // unit keys
  for (size_t i = 0; i < s.v.size(); ++i) other.v[i] *= s.beta[i / s.shape.Dv];
  const Output mine = forward(find_variant("kda"), s), its = forward(find_variant("rwkv7"), other);
  BOOST_TEST(deviation(mine, its).largest() > 0.01);
  for (size_t t = 0; t < s.beta.size(); ++t) other.beta[t] *= s.alpha[t]; // what it erases has decayed first
  check_reduction("rwkv7", other, "kda", s);
}

BOOST_AUTO_TEST_CASE(with_beta_0_nothing_is_written_and_channels_decay) {
  Sequence s = random_sequence({1, 2, 33, 5, 4}, 34);
  s.beta.assign(s.beta.size(), 0);
  s.state = Stream(34, "kda/state").normals(40);
  std::vector<double> wanted = s.state;
  for (size_t head = 0; head < 2; ++head)
    for (size_t t = 0; t < 33; ++t)
      for (size_t i = 0; i < 4; ++i)
        for (size_t j = 0; j < 5; ++j) wanted[(head * 4 + i) * 5 + j] *= s.lambda[(head * 33 + t) * 5 + j];
  check_close(forward(find_variant("kda"), s).state, wanted, 0); // the same products in the same order
  for (int C : {1, 16, 33})
    BOOST_TEST(largest_relative_error(forward(find_variant("kda"), s, {"chunked", Real::f64, C, {}}).state, wanted) <=
               33 * epsilon_of(Real::f64));
}

BOOST_AUTO_TEST_CASE(a_closed_channel_forgets_and_the_others_keep) {
  Sequence s = random_sequence({1, 1, 66, 6, 4}, 35);
  s.lambda.assign(s.lambda.size(), 1);
  for (double gate : {0.0, 1e-8}) {
    s.lambda[64 * 6 + 2] = gate;
    Sequence last = slice_steps(s, 64, 66);
    last.state = forward(find_variant("kda"), slice_steps(s, 0, 64)).state;
    for (size_t i = 0; i < 4; ++i) last.state[i * 6 + 2] *= gate;
    last.lambda.assign(last.lambda.size(), 1);
    const Output wanted = forward(find_variant("kda"), last);
    for (int C : {1, 16, 64, 66}) {
      const Output whole = forward(find_variant("kda"), s, {"chunked", Real::f64, C, {}});
      BOOST_TEST(max_difference(whole.state, wanted.state) <= 66 * epsilon_of(Real::f64) * max_abs(s.v));
    }
  }
}

BOOST_AUTO_TEST_CASE(small_channel_decays_neither_overflow_nor_lose_what_follows) {
  Sequence s = random_sequence({1, 1, 200, 6, 4}, 36);
  s.lambda = harsh_gates(s.lambda.size());
  chunks_give_the_definition("kda", s);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
