// SPDX-License-Identifier: Apache-2.0
#include "harness/numerics/keys.hpp"
#include "harness/core/error.hpp"
#include "tests/testing.hpp"
#include <cmath>

namespace recollect {
namespace {
Dense gram(const std::vector<double> &keys, int n, int d) {
  const Dense rows(n, d, keys);
  return rows * transpose(rows);
}
} // namespace

BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(keys)

BOOST_AUTO_TEST_CASE(structured_sets_have_the_inner_products_they_promise) {
  const double rounding = 64 * epsilon_of(Real::f64); // d-term sums
  check_close(gram(make_keys({"orthonormal", 12, 12}, 1, 3), 12, 12).data, Dense::identity(12).data, rounding);
  for (double cosine : {-0.1, 0.0, 0.3}) {
    const Dense g = gram(make_keys({"equicorrelated", 10, 12, cosine}, 1, 3), 10, 12);
    for (int i = 0; i < 10; ++i)
      for (int j = 0; j < 10; ++j) BOOST_TEST(std::fabs(g(i, j) - (i == j ? 1 : cosine)) <= rounding);
  }
  const std::vector<double> both = make_keys({"hadamard", 256, 128}, 1, 3);
  const Dense g = gram(both, 256, 128);
  for (int i = 0; i < 256; ++i) BOOST_TEST(std::fabs(g(i, i) - 1) <= 4 * rounding);
  BOOST_TEST(std::fabs(coherence(both, 256, 128) - 1 / std::sqrt(128.0)) <= rounding);
  BOOST_TEST(coherence(make_keys({"hadamard", 128, 128}, 1, 3), 128, 128) == 0);
}

BOOST_AUTO_TEST_CASE(packed_sets_stay_below_their_bound) {
  // 000 §3.2 needs 512 keys at d = 128 with coherence below 1/8; the Welch bound there is 0.0766.
  const std::vector<double> keys = make_keys({"packed", 512, 128, 0.124}, 1, 3);
  BOOST_TEST(coherence(keys, 512, 128) <= 0.124 + 1e-15);
  BOOST_TEST(coherence(keys, 512, 128) > 0.0766);
  BOOST_CHECK_THROW(make_keys({"packed", 40, 8, 0.3}, 1, 3), Error); // Welch: 0.32
}

BOOST_AUTO_TEST_CASE(random_sets_are_unit_or_gaussian_and_lean_as_asked) {
  const int n = 400, d = 64;
  for (const char *kind : {"unit", "correlated"}) {
    const Dense g = gram(make_keys({kind, n, d, 0.5}, 1, 5), n, d);
    double mean = 0;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < i; ++j) mean += g(i, j) / (n * (n - 1) / 2);
    for (int i = 0; i < n; ++i) BOOST_TEST(std::fabs(g(i, i) - 1) < 1e-14);
    // Unit: the mean of all pairs has standard deviation 1/sqrt(d n(n-1)/2) = 4.4e-4. Correlated: one shared direction
    // per set, of squared length chi2_d / d, moves the mean cosine by at most 4 sqrt(2/d) 0.5 (1 - 0.5).
    BOOST_TEST(std::fabs(mean - (std::string(kind) == "unit" ? 0 : 0.5)) < (std::string(kind) == "unit" ? 3e-3 : 0.18));
  }
  const Dense g = gram(make_keys({"gaussian", n, d}, 1, 5), n, d);
  BOOST_TEST(std::fabs(trace(g) / n - d) < 6.5 * std::sqrt(2.0 * d / n)); // mean of n chi2_d
}

BOOST_AUTO_TEST_CASE(sets_are_reproducible_and_independent) {
  const std::vector<double> two = make_keys({"unit", 3, 4}, 2, 9);
  BOOST_TEST(two == make_keys({"unit", 3, 4}, 2, 9));
  BOOST_TEST(two != make_keys({"unit", 3, 4}, 2, 10));
  BOOST_TEST(std::vector<double>(two.begin(), two.begin() + 12) != std::vector<double>(two.begin() + 12, two.end()));
}

BOOST_AUTO_TEST_CASE(impossible_sets_are_usage_errors) {
  BOOST_CHECK_THROW(make_keys({"hadamard", 4, 12}, 1, 1), Error);
  BOOST_CHECK_THROW(make_keys({"hadamard", 33, 16}, 1, 1), Error);
  BOOST_CHECK_THROW(make_keys({"equicorrelated", 5, 4, 0.1}, 1, 1), Error);
  BOOST_CHECK_THROW(make_keys({"equicorrelated", 3, 4, -0.6}, 1, 1), Error);
  BOOST_CHECK_THROW(make_keys({"gausian", 3, 4}, 1, 1), Error);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
