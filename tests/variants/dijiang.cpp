// SPDX-License-Identifier: Apache-2.0
#include "harness/numerics/random.hpp"
#include "tests/features.hpp"
#include <algorithm>
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(dijiang)

BOOST_AUTO_TEST_CASE(two_steps_by_hand) {
  // One channel: phi(x) = exp(tau x). With a = exp(tau), the features of 1 and 2 are a and a^2:
  // o_2 = (3 + 5 a) / (1 + a).
  const double a = features_of("dijiang", {1})[0], rounding = 100 * epsilon_of(Real::f64);
  BOOST_TEST(a != 1);
  const Output out = forward(find_variant("dijiang"), one_head(2, {7, 7}, {1, 2}, {3, 5}));
  check_close(out.o, {3, (3 + 5 * a) / (1 + a)}, rounding);
  const double peak = std::max(a, a * a);
  check_close(out.state, {(3 * a + 5 * a * a) / peak, (a + a * a) / peak, std::log(peak)}, rounding);
}

BOOST_AUTO_TEST_CASE(directions_are_those_of_the_cosine_transform) {
  // Four channels: a constant has the first coefficient alone, (1,-1,-1,1)/2 the third alone:
  // all other features are exp(0).
  const std::vector<double> constant = features_of("dijiang", {0.5, 0.5, 0.5, 0.5}),
                            third = features_of("dijiang", {0.5, -0.5, -0.5, 0.5});
  const double rounding = 20 * epsilon_of(Real::f64);
  for (int j = 0; j < 4; ++j) {
    BOOST_TEST((std::fabs(constant[j] - 1) > rounding) == (j == 0));
    BOOST_TEST((std::fabs(third[j] - 1) > rounding) == (j == 2));
  }
  BOOST_TEST(features_of("dijiang", {1})[0] != features_of("dijiang", {1}, {{"seed", "2"}})[0]);
}

BOOST_AUTO_TEST_CASE(all_directions_have_length_one) {
  // A unit vector along direction j has the feature exp(tau_j), tau the layer's own draws.
  const Stream tau(1, "dijiang/tau");
  const double half = 0.5, root = std::sqrt(1 / 6.0);
  const auto log_feature = [](const std::vector<double> &x, int j) { return std::log(features_of("dijiang", x)[j]); };
  BOOST_TEST(std::fabs(log_feature({1}, 0) / tau.normal(0) - 1) < 1e-13);
  BOOST_TEST(std::fabs(log_feature({half, half, half, half}, 0) / tau.normal(0) - 1) < 1e-13);
  BOOST_TEST(std::fabs(log_feature({half, -half, -half, half}, 2) / tau.normal(2) - 1) < 1e-13);
  BOOST_TEST(std::fabs(log_feature({root, -2 * root, root}, 2) / tau.normal(2) - 1) < 1e-13);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
