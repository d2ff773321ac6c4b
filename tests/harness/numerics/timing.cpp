// SPDX-License-Identifier: Apache-2.0
#include "harness/numerics/timing.hpp"
#include "harness/numerics/random.hpp"
#include "tests/testing.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(timing)

BOOST_AUTO_TEST_CASE(medians) {
  BOOST_TEST(median_of({3}) == 3);
  BOOST_TEST(median_of({9, 1, 5}) == 5);
  BOOST_TEST(median_of({9, 1, 5, 7}) == 6);
}

BOOST_AUTO_TEST_CASE(outliers_are_named_and_do_not_move_the_median) {
  const Timing t = summarise({1.00, 1.01, 0.99, 1.02, 9.0, 1.00, 0.98});
  BOOST_TEST(t.median == 1.00);
  BOOST_TEST((t.outliers == std::vector<size_t>{4}));
  BOOST_TEST(summarise({2, 2, 2}).outliers.empty());
}

BOOST_AUTO_TEST_CASE(noise_is_relative_and_has_no_ear_for_outliers) {
  BOOST_TEST(std::fabs(noise_of({0.98, 0.99, 1, 1.01, 9}) - 1.4826 * 0.01) < 1e-12);
  BOOST_TEST((noise_of({2}) == 0 && noise_of({2, 2, 2}) == 0));
  BOOST_TEST(summarise({0.98, 0.99, 1, 1.01, 9}).noise == noise_of({0.98, 0.99, 1, 1.01, 9}));
}

BOOST_AUTO_TEST_CASE(the_standard_error_of_a_median_is_what_its_spread_is) {
  const int n = 101, trials = 400;
  double squares = 0;
  for (int trial = 0; trial < trials; ++trial) {
    std::vector<double> x = Stream(6, "test/timing", trial).normals(n);
    for (double &value : x) value = 1 + 0.01 * value;
    squares += std::pow(median_of(x) - 1, 2);
  }
  BOOST_TEST(std::fabs(std::sqrt(squares / trials) / median_error(0.01, n) - 1) < 0.15); // 4 standard errors
}

BOOST_AUTO_TEST_CASE(the_interval_covers_the_median_of_the_law) {
  int covered = 0;
  const int trials = 300;
  for (int trial = 0; trial < trials; ++trial) {
    std::vector<double> x = Stream(5, "test/timing", trial).normals(25);
    for (double &value : x) value = std::exp(value); // skewed, with median 1
    const Timing t = summarise(x);
    covered += t.low <= 1 && 1 <= t.high;
  }
  BOOST_TEST(std::fabs(double(covered) / trials - 0.95) <
             0.05); // the bootstrap of a median is slightly biased at n = 25
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
