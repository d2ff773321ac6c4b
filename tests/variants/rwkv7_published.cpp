// SPDX-License-Identifier: Apache-2.0
#include "tests/reductions.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(rwkv7_published)

BOOST_AUTO_TEST_CASE(two_steps_by_hand) {
  // share = 1/2. Step 1: k = [3,4], a = [1,0], so w = [3,0] and r = [3,2]: S_1 = 2 [3,2] = [6,4], o_1 = 10.
  // Step 2: k = [0,2], w = [0,1]. Decays of 1/2 and 1 leave [3,4] of S_1. x = [0,1] reads 4 in S_1, so 4 w / |k| =
  // [0,2] is removed: [3,2]. r = [0,2] + ([0,1] - [0,2]) / 2 = [0,3/2], S_2 = [3,2] + 4 [0,3/2] = [3,8], o_2 = 14.
  Sequence s = one_head(2, {1, 1, 2, 1}, {3, 4, 0, 2}, {2, 4});
  s.w = {3, 0, 0, 1}, s.beta = {1, 1}, s.lambda = {1, 1, 0.5, 1};
  const Variant &variant = find_variant("rwkv7_published");
  for (const char *form : {"recurrent", "chunked"}) {
    const Output out = forward(variant, s, {form, Real::f64, 2, variant_params(variant, {{"share", "0.5"}})});
    check_close(out.o, {10, 14}, 0);
    check_close(out.state, {3, 8}, 0);
  }
}

BOOST_AUTO_TEST_CASE(a_learning_rate_of_a_step_gives_rwkv7) {
  // a_t = beta_t in every channel; the replacement key is k with share 0 and beta_t k with share 1.
  const Sequence s = random_sequence({2, 2, 70, 9, 5}, 81);
  Sequence rated = s, plain = s, scaled = s;
  for (size_t i = 0; i < s.k.size(); ++i) rated.w[i] = s.beta[i / 9] * s.k[i];
  for (size_t i = 0; i < s.v.size(); ++i) scaled.v[i] *= s.beta[i / 5];
  rated.beta.clear(), plain.w = s.k, scaled.w = s.k;
  check_reduction("rwkv7", plain, "rwkv7_published", rated, {}, {{"share", "0"}});
  check_reduction("rwkv7", scaled, "rwkv7_published", rated, {}, {{"share", "1"}});
}

BOOST_AUTO_TEST_CASE(a_rate_of_0_keeps_a_channel) {
  // Nothing is removed from and nothing is written to channels whose learning rate is 0.
  Sequence s = random_sequence({1, 1, 20, 4, 3}, 82);
  s.state = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  s.lambda.assign(s.lambda.size(), 1.0);
  for (size_t i = 0; i < s.w.size(); ++i) s.w[i] = i % 4 < 2 ? 0 : s.k[i];
  const Output out = forward(find_variant("rwkv7_published"), s);
  for (int i = 0; i < 12; ++i) BOOST_TEST((out.state[i] == s.state[i]) == (i % 4 < 2));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
