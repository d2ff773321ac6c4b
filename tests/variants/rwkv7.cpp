// SPDX-License-Identifier: Apache-2.0
#include "testing.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(rwkv7)

BOOST_AUTO_TEST_CASE(two_steps_by_hand) {
  // S_1 = 4 [1,2] = [4,8]; o_1 = 12. Step 2: x = [1,0], half of the first channel's 4 is removed, channels keep 1/2 and
  // 1/4, S_2 = [2 - 2, 2] + 6 [1,-1] = [6,-4]; o_2 = 14.
  Sequence s = one_head(2, {1, 1, 3, 1}, {1, 2, 1, -1}, {4, 6});
  s.w = {0, 1, 3, 0}, s.beta = {0.5, 0.5}, s.lambda = {1, 1, 0.5, 0.25};
  for (const char *form : {"recurrent", "chunked"}) {
    const Output out = forward(find_variant("rwkv7"), s, {form, Real::f64, 2, {}});
    check_close(out.o, {12, 14}, 0);
    check_close(out.state, {6, -4}, 0);
  }
}

BOOST_AUTO_TEST_CASE(with_one_decay_and_the_same_key_it_is_leaky_lms_and_gated_delta_net) {
  // Unit keys, w = k, lambda = alpha in every channel, values scaled by beta: 003 Eq 37 to 39; and by the map of Eq
  // 40-41 back.
  const Sequence s = random_sequence({2, 2, 70, 9, 5}, 71);
  Sequence leaky = s, rwkv = s;
  rwkv.w = s.k;
  for (size_t t = 0; t < s.alpha.size(); ++t) {
    for (int j = 0; j < s.shape.Dk; ++j) rwkv.lambda[t * s.shape.Dk + j] = s.alpha[t];
    for (int i = 0; i < s.shape.Dv; ++i) rwkv.v[t * s.shape.Dv + i] *= s.beta[t];
  }
  Sequence gated = leaky;
  for (size_t t = 0; t < s.alpha.size(); ++t) {
    gated.beta[t] /= s.alpha[t];
    for (int i = 0; i < s.shape.Dv; ++i) gated.v[t * s.shape.Dv + i] *= s.alpha[t];
  }
  const double bound =
      2 * accumulated_terms(s.shape, 1) * epsilon_of(Real::f64) * input_condition(find_variant("leaky_lms"), s, {});
  for (const char *form : {"recurrent", "chunked"}) {
    const Output out = forward(find_variant("rwkv7"), rwkv, {form, Real::f64, 70, {}});
    BOOST_TEST(deviation(out, forward(find_variant("leaky_lms"), leaky)).largest() <= bound);
    BOOST_TEST(deviation(out, forward(find_variant("gated_delta_net"), gated)).largest() <= bound);
  }
}

BOOST_AUTO_TEST_CASE(small_channel_decays_neither_overflow_nor_lose_what_follows) {
  Sequence s = random_sequence({1, 1, 200, 6, 4}, 72);
  for (size_t i = 0; i < s.lambda.size(); i += 7) s.lambda[i] = 1e-8;
  const Variant &variant = find_variant("rwkv7");
  const Output reference = forward(variant, s);
  const double bound = accumulated_terms(s.shape, 200) * epsilon_of(Real::f64) * input_condition(variant, s, {});
  for (int C : {16, 64, 200})
    BOOST_TEST(deviation(forward(variant, s, {"chunked", Real::f64, C, {}}), reference).largest() <= bound);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
