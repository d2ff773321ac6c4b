// SPDX-License-Identifier: Apache-2.0
// The statistics behind claims: standard errors with the right coverage, and verdicts without false alarms and misses.
// Each rate is itself a sampled number: its error may be up to 6.47 of its own binomial standard errors.
#include "harness/numerics/statistics.hpp"
#include "harness/numerics/random.hpp"
#include "harness/numerics/verdict.hpp"
#include "tests/testing.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(statistics)

constexpr int trials = 4000;

/// The fraction of trials whose estimate is off by more than `wide` of its standard errors.
template <class Draw> double miss_rate(double truth, double wide, const Draw &draw) {
  int misses = 0;
  for (int trial = 0; trial < trials; ++trial) {
    const Mean m = draw(std::uint64_t(trial));
    misses += std::fabs(m.mean - truth) > wide * m.standard_error;
  }
  return double(misses) / trials;
}

double binomial_error(double rate) { return allowed_standard_errors * std::sqrt(rate * (1 - rate) / trials); }

BOOST_AUTO_TEST_CASE(by_hand) {
  // 1, 2, 6: mean 3, variance (4 + 1 + 9) / 2 = 7, standard error sqrt(7/3).
  const Mean m = mean_of({1, 2, 6});
  BOOST_TEST(m.mean == 3);
  BOOST_TEST(std::fabs(m.standard_error - std::sqrt(7.0 / 3)) < 1e-15);
  BOOST_TEST(std::isinf(mean_of({1}).standard_error));
  // Two batches of three with the means 2 and 5; the seventh sample is left out. The standard error is 1.5.
  const Mean b = batch_mean({1, 2, 3, 4, 5, 6, 100}, 2);
  BOOST_TEST(b.mean == 3.5);
  BOOST_TEST(std::fabs(b.standard_error - 1.5) < 1e-15);
  // Through (0,0), (1,1), (2,5): slope 5/2, residuals 1/2, -1, 1/2, variance 3/2 over 1 degree of freedom, / sum (x -
  // 1)^2 = 2.
  const Mean slope = fitted_slope({0, 1, 2}, {0, 1, 5});
  BOOST_TEST(slope.mean == 2.5);
  BOOST_TEST(std::fabs(slope.standard_error - std::sqrt(1.5 / 2)) < 1e-15);
  BOOST_TEST(std::isinf(fitted_slope({0, 1}, {0, 1}).standard_error));
}

BOOST_AUTO_TEST_CASE(independent_samples_are_covered) {
  // The mean of 20 Gaussian samples: Student's t with 19 degrees of freedom exceeds 2.093 in 5% of the trials.
  const double rate = miss_rate(1, 2.093, [](std::uint64_t trial) {
    std::vector<double> x = Stream(7, "test/independent", trial).normals(20);
    for (double &value : x) value += 1;
    return mean_of(x);
  });
  BOOST_TEST(std::fabs(rate - 0.05) < binomial_error(0.05));
}

BOOST_AUTO_TEST_CASE(correlated_samples_need_batches) {
  // x_t = 0.9 x_{t-1} + noise has the correlation time 19, so that batches of 128 are nearly independent, and t with 31
  // degrees of freedom exceeds 2.040 in 5% of the trials. The plain standard error is too small by a factor of 4.4.
  const auto series = [](std::uint64_t trial) {
    std::vector<double> x = Stream(8, "test/correlated", trial).normals(32 * 128);
    x[0] /= std::sqrt(1 - 0.81);
    for (size_t t = 1; t < x.size(); ++t) x[t] += 0.9 * x[t - 1];
    return x;
  };
  const int some = 500; // of the trials
  int batch_misses = 0, plain_misses = 0;
  for (int trial = 0; trial < some; ++trial) {
    const std::vector<double> x = series(trial);
    const Mean batch = batch_mean(x, 32), plain = mean_of(x);
    batch_misses += std::fabs(batch.mean) > 2.040 * batch.standard_error;
    plain_misses += std::fabs(plain.mean) > 2.040 * plain.standard_error;
  }
  // Neighbouring batches have a correlation of about 19/128/2. The standard error is therefore up to 8% too small, and
  // the rate is up to 7%.
  const double spread = allowed_standard_errors * std::sqrt(0.05 * 0.95 / some);
  BOOST_TEST(double(batch_misses) / some < 0.07 + spread);
  BOOST_TEST(double(batch_misses) / some > 0.05 - spread);
  BOOST_TEST(double(plain_misses) / some > 0.5);
}

BOOST_AUTO_TEST_CASE(slopes_are_covered) {
  // 12 points near y = 2 x: t with 10 degrees of freedom exceeds 2.228 in 5% of the trials.
  const double rate = miss_rate(2, 2.228, [](std::uint64_t trial) {
    const std::vector<double> noise = Stream(9, "test/slopes", trial).normals(12);
    std::vector<double> x, y;
    for (int i = 0; i < 12; ++i) x.push_back(i), y.push_back(2 * i + noise[i]);
    return fitted_slope(x, y);
  });
  BOOST_TEST(std::fabs(rate - 0.05) < binomial_error(0.05));
}

BOOST_AUTO_TEST_CASE(heavy_tails_deceive_the_plain_error) {
  // exp(2 z) is the square of the exp kernel at tau = sqrt d. The mean of 100 samples lies below e^2 by more than 3 of
  // its own standard errors far more often than in the 0.13% of a Gaussian. Therefore the claims reweight or integrate.
  int low = 0;
  for (int trial = 0; trial < trials; ++trial) {
    std::vector<double> x = Stream(10, "test/tails", trial).normals(100);
    for (double &value : x) value = std::exp(2 * value);
    const Mean m = mean_of(x);
    low += std::exp(2.0) - m.mean > 3 * m.standard_error;
  }
  BOOST_TEST(double(low) / trials > 0.05);
}

BOOST_AUTO_TEST_CASE(a_whole_ledger_rarely_cries_wolf) {
  // The two-sided Gaussian tail beyond 6.47 standard errors, times 10^4 points, is below 10^-6.
  BOOST_TEST(1e4 * std::erfc(allowed_standard_errors / std::sqrt(2.0)) < 1e-6);
}

BOOST_AUTO_TEST_CASE(true_points_hold_and_what_the_sensitivity_names_is_seen) {
  // 500 seeds: every true prediction holds; one that is off by the sensitivity is refuted in 95% of them.
  int held = 0, seen = 0;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    const std::vector<double> noise = Stream(seed, "test/noise").normals(1000);
    Mean m = mean_of(noise);
    m.mean += 1;
    const Point truth = sampled_point(m, 1);
    held += truth.verdict == Verdict::holds;
    seen += rival_law(truth, "off by what it detects", 1 + sensitivity(truth)).verdict == Verdict::refuted;
  }
  BOOST_TEST(held == 500);
  BOOST_TEST(std::fabs(seen / 500.0 - 0.95) < 5 * std::sqrt(0.05 * 0.95 / 500));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
