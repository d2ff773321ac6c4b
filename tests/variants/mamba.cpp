// SPDX-License-Identifier: Apache-2.0
#include "tests/reductions.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(mamba)

BOOST_AUTO_TEST_CASE(two_steps_by_hand) {
  // Delta = ln 2: the channels decay by 2^-1 and 2^-2. S_1 = Delta 3 (1,1),
  // S_2 = Delta ((1.5, 0.75) + 5 (1,1)); q = (1,2).
  const Variant &variant = find_variant("mamba");
  const double delta = std::log(2), rounding = 100 * epsilon_of(Real::f64);
  const std::string text = "0.69314718055994530942";
  const Run run{"recurrent", Real::f64, 1, variant_params(variant, {{"dt_min", text}, {"dt_max", text}})};
  const Output out = forward(variant, one_head(2, {1, 2, 1, 2}, {1, 1, 1, 1}, {3, 5}), run);
  check_close(out.o, {9 * delta, 18 * delta}, rounding);
  check_close(out.state, {6.5 * delta, 5.75 * delta}, rounding);
}

BOOST_AUTO_TEST_CASE(a_step_of_size_zero_is_skipped) {
  Sequence s = one_head(2, {1, 2, 1, 2}, {1, 1, 4, 5}, {3, 5});
  s.beta = {1, 0};
  check_close(forward(find_variant("mamba"), s).state, forward(find_variant("mamba"), slice_steps(s, 0, 1)).state, 0);
}

BOOST_AUTO_TEST_CASE(one_state_channel_is_mamba2) {
  // Delta = softplus(bias + w), where bias is the inverse softplus of 0.1. The corresponding mamba2 has alpha =
  // exp(-beta Delta) and writes with beta Delta.
  Sequence s = random_sequence({1, 2, 40, 1, 1}, 5), other = s;
  const double bias = std::log(std::expm1(0.1));
  for (size_t t = 0; t < s.beta.size(); ++t) {
    other.beta[t] = s.beta[t] * std::log1p(std::exp(bias + s.w[t]));
    other.alpha[t] = std::exp(-other.beta[t]);
  }
  check_reduction("mamba", s, "mamba2", other, {{"dt_min", "0.1"}, {"dt_max", "0.1"}});
}

BOOST_AUTO_TEST_CASE(channels_step_evenly_in_the_logarithm) {
  // After one step S[i,0] = Delta_i v k: 0.001, 0.01, 0.1 over three value channels.
  const Output out = forward(find_variant("mamba"), one_head(1, {1}, {1}, {1, 1, 1}));
  check_close(out.state, {0.001, 0.01, 0.1}, 100 * epsilon_of(Real::f64));
}

BOOST_AUTO_TEST_CASE(value_channels_beyond_the_keys_take_the_steps_of_the_first_again) {
  // w = (w0, w1) serves the value channels 0 ... 4: after one step S[i,0] = softplus(bias + w[i mod 2]) v k, with the
  // bias that gives 0.1.
  Sequence s = one_head(1, {1, 1}, {1, 1}, {1, 1, 1, 1, 1});
  s.w = {-2, 3};
  const Variant &variant = find_variant("mamba");
  const Output out =
      forward(variant, s, {"recurrent", Real::f64, 1, variant_params(variant, {{"dt_min", "0.1"}, {"dt_max", "0.1"}})});
  const double bias = std::log(std::expm1(0.1));
  for (int i = 0; i < 5; ++i)
    BOOST_TEST(std::fabs(out.state[2 * i] - std::log1p(std::exp(bias + s.w[i % 2]))) < 100 * epsilon_of(Real::f64));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
