// SPDX-License-Identifier: Apache-2.0
#include "tests/reductions.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(log_linear_gated_delta)

BOOST_AUTO_TEST_CASE(three_steps_by_hand) {
  // Step 2 keeps half of the 8 that step 1 wrote, and erases half of the rest: 2 is left. It reads this with the weight
  // 7 of level 1, and its own write 0.5 * 4 with the weight 10 of level 0. At step 3 both are in level 2: the decay
  // leaves 0.5 * (2 + 2), which is read with the weight 3; that step's key erases nothing of it.
  Sequence s = one_head(3, {1, 0, 0, 1, 0, 0, 1, 0, 0}, {1, 0, 0, 1, 0, 0, 0, 1, 0}, {8, 4, 9});
  s.alpha = {1, 0.5, 0.5}, s.beta = {1, 0.5, 1}, s.w = {10, 7, 3, 10, 7, 3, 10, 7, 3};
  for (const char *form : {"recurrent", "chunked"})
    check_close(forward(find_variant("log_linear_gated_delta"), s, {form, Real::f64, 2, {}}).o,
                {80, 10 * 2 + 7 * 2, 3 * 2}, 0);
}

BOOST_AUTO_TEST_CASE(weights_of_one_are_gated_delta_net) {
  for (int T : {1, 2, 37, 64, 65}) {
    Sequence s = random_sequence({1, 2, T, 6, 5}, 44);
    s.w.clear();
    check_reduction("log_linear_gated_delta", s, "gated_delta_net", s, {}, {}, false);
  }
}

BOOST_AUTO_TEST_CASE(at_right_angles_nothing_is_erased_and_it_is_log_linear_mamba2) {
  Sequence s = random_sequence({1, 1, 12, 16, 5}, 45);
  s.k.assign(s.k.size(), 0.0);
  for (size_t t = 0; t < 12; ++t) s.k[t * 16 + t] = 1;
  check_reduction("log_linear_gated_delta", s, "log_linear_mamba2", s, {}, {}, false);
}

BOOST_AUTO_TEST_CASE(every_level_is_erased_by_the_whole_strength) {
  // A step of strength 1 at the same key erases every level, whatever its weight.
  const int T = 21;
  Sequence s = random_sequence({1, 1, T, 5, 3}, 46);
  for (size_t i = 0; i < s.k.size(); ++i) s.k[i] = i % 5 == 0;
  s.q = s.k, s.beta.assign(T, 1.0);
  std::vector<double> wanted = s.v;
  for (size_t i = 0; i < wanted.size(); ++i) wanted[i] *= s.w[i / 3 * 5];
  for (const char *form : {"recurrent", "chunked"})
    check_close(forward(find_variant("log_linear_gated_delta"), s, {form, Real::f64, 8, {}}).o, wanted,
                32 * epsilon_of(Real::f64) * max_abs(s.v));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
