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

BOOST_AUTO_TEST_CASE(the_interval_covers_the_median_of_the_law) {
  int covered = 0;
  const int trials = 300;
  for (int trial = 0; trial < trials; ++trial) {
    std::vector<double> x = Stream(5, "test/timing", trial).normals(25);
    for (double &value : x) value = std::exp(value); // skewed, with median 1
    const Timing t = summarise(x);
    covered += t.low <= 1 && 1 <= t.high;
  }
  BOOST_TEST(std::fabs(double(covered) / trials - 0.95) < 0.05); // the bootstrap of a median is a little off at n = 25
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
