// SPDX-License-Identifier: Apache-2.0
#include "tests/features.hpp"
#include <algorithm>
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(performer)

BOOST_AUTO_TEST_CASE(two_steps_by_hand) {
  // One channel, one feature: phi(x) = exp(omega x - x^2/2). With omega read off phi(1) = exp(omega - 1/2), the keys 1
  // and 2 have the features exp(omega - 1/2) and exp(2 omega - 2), and the query's own feature cancels.
  const double omega = std::log(features_of("performer", {1}, {{"features", "1"}})[0]) + 0.5;
  const double first = std::exp(omega - 0.5), second = std::exp(2 * omega - 2), rounding = 100 * epsilon_of(Real::f64);
  const Variant &variant = find_variant("performer");
  const Output out = forward(variant, one_head(2, {1, 1}, {1, 2}, {3, 5}),
                             {"recurrent", Real::f64, 1, variant_params(variant, {{"features", "1"}})});
  check_close(out.o, {3, (3 * first + 5 * second) / (first + second)}, rounding);
  const double peak = std::max(first, second);
  check_close(out.state, {(3 * first + 5 * second) / peak, (first + second) / peak, std::log(peak)}, rounding);
}

BOOST_AUTO_TEST_CASE(features_are_unbiased) {
  // Blocks of three directions are independent of one another, the directions inside are orthogonal.
  const std::vector<double> x{0.5, -0.3, 0.8}, y{0.2, 0.6, 0.4};
  const Assignments given{{"features", "30000"}, {"scale", "0.7"}};
  const std::vector<double> a = features_of("performer", x, given), b = features_of("performer", y, given);
  std::vector<double> samples;
  for (size_t i = 0; i < a.size(); i += 3) // phi contains 1 / sqrt(features), i.e. three of 30,000
    samples.push_back(10000 * (a[i] * b[i] + a[i + 1] * b[i + 1] + a[i + 2] * b[i + 2]));
  check_unbiased(samples, x, y);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
