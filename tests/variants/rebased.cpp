// SPDX-License-Identifier: Apache-2.0
#include "tests/features.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(rebased)

BOOST_AUTO_TEST_CASE(two_steps_by_hand) {
  // Mean 0, variance 1: (1, -1) becomes (1 + f, 1 - f) with shift 1, f = 1 / sqrt(1 + 1e-5); (-1, 1) the same turned
  // round. Weights for q = (1, -1): ((1+f)^2 + (1-f)^2)^2 = 4 (1 + f^2)^2 and (2 (1 - f^2))^2.
  const double f = 1 / std::sqrt(1 + 1e-5), near = 4 * std::pow(1 + f * f, 2), far = 4 * std::pow(1 - f * f, 2);
  const Variant &variant = find_variant("rebased");
  const Run run{"recurrent", Real::f64, 1, variant_params(variant, {{"shift", "1"}})};
  const Output out = forward(variant, one_head(2, {1, -1, 1, -1}, {1, -1, -1, 1}, {3, 5}), run);
  check_close(out.o, {3, (3 * near + 5 * far) / (near + far)}, 100 * epsilon_of(Real::f64));
}

BOOST_AUTO_TEST_CASE(kernel_is_the_square_of_the_normed_inner_product) {
  // Mean 2, variance 2/3 and mean 0, variance 8/3: x' = (-1, 0, 1) g, y' = (2, -2, 0) h, x' . y' = -2 g h.
  const double g = 1 / std::sqrt(2.0 / 3 + 1e-5), h = 1 / std::sqrt(8.0 / 3 + 1e-5);
  const double measured = inner_product(features_of("rebased", {1, 2, 3}, {{"shift", "0"}}),
                                        features_of("rebased", {2, -2, 0}, {{"shift", "0"}}));
  BOOST_TEST(std::fabs(measured - 4 * g * g * h * h) <= 100 * epsilon_of(Real::f64));
}

// Weights are sums of F products of features of both signs, with sizes that add up to at most |q'|^2 |k'|^2 per pair.
// Rounding changes numerator and divisor by eps of that, even if the weight is small.
BOOST_AUTO_TEST_CASE(chunked_errs_by_the_cancellation_in_its_weights) {
  const int T = 65, D = 6, F = 21;
  const Variant &variant = find_variant("rebased");
  const Sequence s = random_sequence({1, 1, T, D, 1}, 9);
  const Params params = variant_params(variant, {{"shift", "0"}});
  const Output reference = forward(variant, s, {"recurrent", Real::f64, 1, params});
  const auto normed = [&](const std::vector<double> &x, int t) {
    std::vector<double> row(x.begin() + t * D, x.begin() + (t + 1) * D);
    double mean = 0, variance = 0;
    for (double e : row) mean += e / D;
    for (double e : row) variance += (e - mean) * (e - mean) / D;
    for (double &e : row) e = (e - mean) / std::sqrt(variance + 1e-5);
    return row;
  };
  for (Real real : {Real::f32, Real::f64})
    for (int C : {1, 16, 65}) {
      const Output fast = forward(variant, s, {"chunked", real, C, params});
      for (int t = 0; t < T; ++t) {
        double weight = 0, size = 0;
        for (int i = 0; i <= t; ++i) {
          const std::vector<double> q = normed(s.q, t), k = normed(s.k, i);
          weight += std::pow(inner_product(q, k), 2), size += inner_product(q, q) * inner_product(k, k);
        }
        const double bound = 2 * (T + F + 2 * D) * epsilon_of(real) * max_abs(s.v) * size / weight;
        BOOST_TEST_INFO(name_of(real) << " C=" << C << " t=" << t << " size / weight " << size / weight);
        BOOST_TEST(std::fabs(fast.o[t] - reference.o[t]) <= bound);
      }
    }
}

BOOST_AUTO_TEST_CASE(a_query_at_right_angles_is_lost_in_rounding) {
  // x' . y' = 1e-4 and |x'|^2 |y'|^2 = 16. The exact read is v = 3 with a weight of 1e-8, which is below the rounding
  // of 16 in float.
  const Variant &variant = find_variant("rebased");
  const Sequence s = one_head(1, {1, -1, 1, -1.0001}, {1, 1.00003, -1, -1}, {3});
  const Params params = variant_params(variant, {{"shift", "0"}});
  BOOST_TEST(std::fabs(forward(variant, s, {"recurrent", Real::f64, 1, params}).o[0] - 3) <= 1e-4);
  const double error = std::fabs(forward(variant, s, {"recurrent", Real::f32, 1, params}).o[0] - 3);
  BOOST_TEST(error > accumulated_terms(s.shape, 1) * epsilon_of(Real::f32) * input_condition(variant, s, params) * 3);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
