// SPDX-License-Identifier: Apache-2.0
#include "harness/check/samples.hpp"
#include "harness/core/error.hpp"
#include "tests/testing.hpp"
#include <algorithm>
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(samples)

const Shape shape{1, 2, 64, 8, 4};
Sequence of(const std::string &variant, const std::string &kind) {
  return sample(find_variant(variant), shape, kind, 3);
}
double norm_of_row(const std::vector<double> &x, int row) {
  return std::sqrt(inner(&x[size_t(row) * 8], &x[size_t(row) * 8], 8));
}

BOOST_AUTO_TEST_CASE(a_variant_gets_what_it_takes_and_nothing_else) {
  const Sequence linear = of("linear", "random"), gated = of("gated_delta_net", "random");
  BOOST_TEST((linear.alpha.empty() && linear.beta.empty() && linear.lambda.empty() && linear.w.empty()));
  BOOST_TEST((gated.alpha.size() == 128 && gated.beta.size() == 128 && gated.lambda.empty()));
  BOOST_TEST((gated.k == of("gated_delta_net", "random").k)); // same seed, same bits
  BOOST_TEST((gated.k != sample(find_variant("gated_delta_net"), shape, "random", 4).k));
}

BOOST_AUTO_TEST_CASE(each_kind_is_what_it_says) {
  BOOST_TEST(std::fabs(norm_of_row(of("linear", "random").k, 5) - 1) < 1e-12);
  BOOST_TEST(of("linear", "ragged").shape.T == 63);
  BOOST_TEST(of("linear", "long").shape.T == 1024);
  const Sequence repeated = of("linear", "repeated-keys");
  BOOST_TEST(inner(&repeated.k[0], &repeated.k[8 * 40], 8) > 0.99);
  double large = 0;
  const Sequence loud = of("linear", "large-norm");
  for (int row = 0; row < 128; ++row) large += norm_of_row(loud.k, row) / 128;
  BOOST_TEST(std::fabs(large - std::sqrt(8.0)) < 1e-9);
  const Sequence tiny = of("gated_delta_net", "tiny-gates");
  BOOST_TEST(*std::min_element(tiny.alpha.begin(), tiny.alpha.end()) < 1e-4);
  for (size_t i = 0; i < tiny.alpha.size(); ++i)
    if (i % 4) BOOST_TEST(tiny.alpha[i] > 0.8);
  const std::vector<double> lambda = of("gated_linear", "tiny-gates").lambda; // [128,8]
  double decades = 0;
  for (size_t step = 0; step < 128; step += 4)
    for (size_t i = 8 * step; i < 8 * (step + 1); ++i) {
      BOOST_TEST((lambda[i] >= 1e-6 && lambda[i] <= 1));
      decades += std::log10(lambda[i]) / 256;
    }
  BOOST_TEST(std::fabs(decades + 3) < 6.47 * std::sqrt(36 / 12.0 / 256)); // even in the logarithm, from -6 to 0
}

BOOST_AUTO_TEST_CASE(every_variant_takes_every_kind) {
  for (const Variant &v : all_variants())
    for (const std::string &kind : sample_kinds()) {
      if (kind == "long") continue; // the same inputs, sixteen times
      const Sequence s = sample(v, {1, 1, 9, 8, 8}, kind, 1);
      BOOST_CHECK_NO_THROW(check_inputs(v, s, variant_params(v)));
    }
}

BOOST_AUTO_TEST_CASE(an_unknown_kind_is_a_usage_error) { BOOST_CHECK_THROW(of("linear", "randon"), Error); }

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
