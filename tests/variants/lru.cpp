// SPDX-License-Identifier: Apache-2.0
#include "tests/reductions.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(lru)

BOOST_AUTO_TEST_CASE(two_steps_by_hand) {
  // Modulus 0.6, gain sqrt(1 - 0.36) = 0.8, no phase: S_1 = 2.4, S_2 = 0.6*2.4 + 4; read with q = 2.
  const Variant &variant = find_variant("lru");
  const Run run{"recurrent", Real::f64, 1,
                variant_params(variant, {{"r_min", "0.6"}, {"r_max", "0.6"}, {"phase", "0"}})};
  const Output out = forward(variant, one_head(2, {2, 2}, {1, 1}, {3, 5}), run);
  check_close(out.o, {4.8, 10.88}, 50 * epsilon_of(Real::f64));
  check_close(out.state, {5.44, 0}, 50 * epsilon_of(Real::f64));
}

BOOST_AUTO_TEST_CASE(one_real_decay_is_retnet_with_scaled_keys) {
  const Sequence s = random_sequence({1, 2, 40, 6, 5}, 5);
  Sequence scaled = s;
  for (double &k : scaled.k) k *= 0.8;
  check_reduction("lru", s, "retnet", scaled, {{"r_min", "0.6"}, {"r_max", "0.6"}, {"phase", "0"}}, {{"gamma", "0.6"}},
                  false);
}

BOOST_AUTO_TEST_CASE(is_gateloop_with_fixed_gates) {
  // The ring is read from the state: one write of v = 1 leaves the gain, one empty step after it a times the gain.
  const int D = 3;
  const Variant &variant = find_variant("lru");
  const std::vector<double> ones(D, 1.0);
  const std::vector<double> gain = forward(variant, one_head(1, ones, ones, {1})).state;
  Sequence empty = one_head(1, ones, ones, {0});
  empty.state = gain;
  const std::vector<double> turned = forward(variant, empty).state;
  Sequence s = random_sequence({1, 1, 50, D, 2}, 5), fixed = s;
  fixed.alpha.clear();
  for (int t = 0; t < 50; ++t)
    for (int j = 0; j < D; ++j) {
      fixed.k[t * D + j] *= gain[j];
      fixed.lambda[t * D + j] = std::hypot(turned[j], turned[D + j]) / gain[j];
      fixed.w[t * D + j] = std::atan2(turned[D + j], turned[j]);
    }
  check_reduction("lru", s, "gateloop", fixed);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
