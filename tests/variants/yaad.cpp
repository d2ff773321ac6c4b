// SPDX-License-Identifier: Apache-2.0
#include "tests/reductions.hpp"
#include <algorithm>
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(yaad)

BOOST_AUTO_TEST_CASE(two_steps_by_hand) {
  // Two value channels, one key channel: S is a column. delta = 2. Step 1: the error [3,-1] is longer than 2, and is
  // written as 2 [1,-1] with step 1/2 at key 1: S_1 = [1,-1]. Step 2: threshold 2 * 3/4 = 1.5, error [4,-1] - 2 [1,-1]
  // = [2,1], longer: 1.5 [1,1] with step 1 at key 2 on half of S_1: S_2 = [3.5,2.5]. Step 3: error [3,3] - S_2 =
  // [-0.5,0.5], short: S_3 = [3,3].
  Sequence s = one_head(3, {2, 1, -1}, {1, 2, 1}, {3, -1, 4, -1, 3, 3});
  s.beta = {0.5, 1, 1}, s.alpha = {1, 0.5, 1}, s.lambda = {1, 0.75, 0.75};
  const Variant &layer = find_variant("yaad");
  const Output out = forward(layer, s, {"recurrent", Real::f64, 1, variant_params(layer, {{"delta", "2"}})});
  check_close(out.o, {2, -2, 3.5, 2.5, -3, -3}, 4 * epsilon_of(Real::f64));
  check_close(out.state, {3, 3}, 4 * epsilon_of(Real::f64));
}

BOOST_AUTO_TEST_CASE(below_its_threshold_it_is_the_delta_rule) {
  const Sequence s = random_sequence({2, 2, 60, 6, 4}, 61);
  check_reduction("leaky_lms", s, "yaad", s, {}, {{"delta", "1e6"}});
  Sequence ungated = s;
  std::fill(ungated.alpha.begin(), ungated.alpha.end(), 1.0);
  check_reduction("delta_net", ungated, "yaad", ungated, {}, {{"delta", "1e6"}});
}

BOOST_AUTO_TEST_CASE(above_its_threshold_the_length_of_a_value_has_no_effect) {
  // Errors of values 1000 times as long have the same signs, as long as the memory is short against them.
  const Variant &layer = find_variant("yaad");
  Sequence s = random_sequence({1, 2, 40, 5, 3}, 62), longer = s;
  for (double &x : s.v) x = x < 0 ? -100 : 100;
  for (size_t i = 0; i < s.v.size(); ++i) longer.v[i] = 1000 * s.v[i];
  check_close(forward(layer, longer).o, forward(layer, s).o, 0);
}

BOOST_AUTO_TEST_CASE(no_step_is_longer_than_the_threshold_allows) {
  // One key: |S_t - S_{t-1}| <= beta delta sqrt(Dv) for any value
  const Variant &layer = find_variant("yaad");
  Sequence s = random_sequence({1, 1, 30, 1, 4}, 63);
  std::fill(s.alpha.begin(), s.alpha.end(), 1.0), std::fill(s.k.begin(), s.k.end(), 1.0);
  std::fill(s.q.begin(), s.q.end(), 1.0);
  for (double &x : s.v) x *= 1e3;
  const std::vector<double> o = forward(layer, s).o;
  for (size_t t = 1; t < 30; ++t) {
    double square = 0;
    for (size_t i = 0; i < 4; ++i) square += (o[t * 4 + i] - o[t * 4 - 4 + i]) * (o[t * 4 + i] - o[t * 4 - 4 + i]);
    BOOST_TEST(std::sqrt(square) <= s.beta[t] * 2 * s.lambda[t] * (1 + 1e-12));
    BOOST_TEST(std::sqrt(square) > s.beta[t] * s.lambda[t]); // all four channels move
  }
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
