// SPDX-License-Identifier: Apache-2.0
#include "harness/numerics/random.hpp"
#include "tests/reductions.hpp"
#include <algorithm>
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(atlas)

BOOST_AUTO_TEST_CASE(three_steps_of_a_window_of_two_by_hand) {
  // Scalars, eta = 1. S_1 = 1/2 * 4 = 2. Step 2: tokens 1 and 2 err by 4 - 2 = 2 and 3 - 2 * 2 = -1 at S_1, so S_2 =
  // 1/2 * 2 + 1/2 * 2 * 1 - 1 * 1 * 2 = 0. Step 3: token 1 has left the window; errors 3 and 5: S_3 = 0 + 3 * 2 +
  // 1/4 * 5 = 7.25. The window then holds token 3: value 5, key 1, step size 1/4.
  Sequence s = one_head(3, {1, 2, -1}, {1, 2, 1}, {4, 3, 5});
  s.beta = {0.5, 1, 0.25}, s.alpha = {0.9, 0.5, 1};
  const Variant &layer = find_variant("atlas");
  const Output out =
      forward(layer, s, {"recurrent", Real::f64, 1, variant_params(layer, {{"window", "2"}, {"eta", "1"}})});
  check_close(out.o, {2, 0, -7.25}, 4 * epsilon_of(Real::f64));
  check_close(out.state, {7.25, 5, 1, 0.25}, 4 * epsilon_of(Real::f64));
}

BOOST_AUTO_TEST_CASE(a_window_of_one_token_is_the_delta_rule) {
  Sequence s = random_sequence({2, 2, 40, 6, 4}, 51), ungated = s;
  s.state = ungated.state = Stream(51, "atlas/state").normals(4 * 4 * 6);
  std::fill(ungated.alpha.begin(), ungated.alpha.end(), 1.0);
  check_reduction("delta_net", ungated, "atlas", ungated, {}, {{"window", "1"}});
  check_reduction("leaky_lms", s, "atlas", s, {}, {{"window", "1"}}); // the decay does not apply to the error
}

BOOST_AUTO_TEST_CASE(the_state_carries_the_window) {
  const Variant &layer = find_variant("atlas");
  const Sequence s = random_sequence({1, 2, 30, 5, 3}, 52);
  const Output whole = forward(layer, s);
  for (int cut : {1, 2, 17}) { // shorter and longer than the window of four tokens
    Sequence rest = slice_steps(s, cut, 30);
    rest.state = forward(layer, slice_steps(s, 0, cut)).state;
    const Output out = forward(layer, rest);
    check_close(out.o, steps_of(whole.o, s.shape, cut, 30), 0);
    check_close(out.state, whole.state, 0);
  }
}

BOOST_AUTO_TEST_CASE(a_step_descends_the_losses_of_the_last_tokens) {
  // At a sequence's end every loss of the window is read with the token's own key; without decay a step of size eta
  // lowers their weighted sum by about eta |gradient|^2.
  const Variant &layer = find_variant("atlas");
  Sequence s = random_sequence({1, 1, 6, 5, 3}, 53);
  std::fill(s.alpha.begin(), s.alpha.end(), 1.0);
  const auto loss = [&](const std::vector<double> &state) { // of tokens 3 ... 5
    double sum = 0;
    for (int t = 3; t < 6; ++t)
      for (int i = 0; i < 3; ++i) {
        double error = s.v[size_t(t * 3 + i)];
        for (int j = 0; j < 5; ++j) error -= state[size_t(i * 7 + j)] * s.k[size_t(t * 5 + j)];
        sum += s.beta[size_t(t)] * error * error / 2;
      }
    return sum;
  };
  const double eta = 1e-5;
  const Params params = variant_params(layer, {{"window", "3"}, {"eta", "1e-5"}});
  const std::vector<double> before = forward(layer, slice_steps(s, 0, 5), {"recurrent", Real::f64, 1, params}).state,
                            after = forward(layer, s, {"recurrent", Real::f64, 1, params}).state;
  double square = 0; // squared length of the gradient
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 5; ++j) {
      const double change = (after[size_t(i * 7 + j)] - before[size_t(i * 7 + j)]) / eta;
      square += change * change;
    }
  const double fall = (loss(before) - loss(after)) / eta;
  BOOST_TEST(std::fabs(fall / square - 1) < 1e-3); // the second-order term is about eta / 2
}

BOOST_AUTO_TEST_CASE(a_token_without_weight_is_not_learnt) {
  const Variant &layer = find_variant("atlas");
  Sequence s = random_sequence({1, 1, 12, 5, 3}, 54), other = s;
  s.beta[4] = other.beta[4] = 0;
  for (int j = 0; j < 5; ++j) other.k[size_t(4 * 5 + j)] += 1;
  for (int i = 0; i < 3; ++i) other.v[size_t(4 * 3 + i)] -= 2;
  check_close(forward(layer, other).o, forward(layer, s).o, 0);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
