// SPDX-License-Identifier: Apache-2.0
#include "tests/features.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(random_feature)

BOOST_AUTO_TEST_CASE(two_steps_by_hand) {
  // One channel, one frequency: phi(x) = exp(x^2/2) (sin(omega x), cos(omega x)). With omega from phi(0.1), the weights
  // of the keys 0 and 1 for the query 1 are e^{1/2} cos(omega) and e.
  const std::vector<double> phi = features_of("random_feature", {0.1}, {{"features", "1"}});
  const double omega = std::atan2(phi[0], phi[1]) / 0.1, c = std::exp(0.5) * std::cos(omega), e = std::exp(1.0);
  const Variant &variant = find_variant("random_feature");
  const Output out = forward(variant, one_head(2, {1, 1}, {0, 1}, {3, 5}),
                             {"recurrent", Real::f64, 1, variant_params(variant, {{"features", "1"}})});
  check_close(out.o, {3, (3 * c + 5 * e) / (c + e)}, 1000 * epsilon_of(Real::f64)); // omega has lost a factor 10
}

BOOST_AUTO_TEST_CASE(features_are_unbiased) {
  // The frequencies are independent: one sample each.
  const std::vector<double> x{0.5, -0.3, 0.8}, y{0.2, 0.6, 0.4};
  const Assignments given{{"features", "10000"}, {"scale", "0.7"}};
  const std::vector<double> a = features_of("random_feature", x, given), b = features_of("random_feature", y, given);
  std::vector<double> samples;
  for (int i = 0; i < 10000; ++i) samples.push_back(10000 * (a[i] * b[i] + a[10000 + i] * b[10000 + i]));
  check_unbiased(samples, x, y);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
