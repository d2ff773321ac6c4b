// SPDX-License-Identifier: Apache-2.0
#include "harness/numerics/false_discovery.hpp"
#include "tests/testing.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(false_discovery)

/// By hand: the sorted p .01, .02, .03, .5 times 4/1, 4/2, 4/3, 4/4 are .04, .04, .04, .5.
BOOST_AUTO_TEST_CASE(p_values_are_adjusted_by_rank) {
  const std::vector<double> found = adjusted_for_discoveries({0.5, 0.02, 0.01, 0.03});
  const double expected[] = {0.5, 0.04, 0.04, 0.04};
  for (size_t i = 0; i < 4; ++i) BOOST_TEST(std::fabs(found[i] - expected[i]) < 1e-15);
  BOOST_TEST(adjusted_for_discoveries({}).empty());
  BOOST_TEST(adjusted_for_discoveries({0.03})[0] == 0.03);       // a single test is not adjusted
  BOOST_TEST(adjusted_for_discoveries({0.9, 0.9})[0] == 0.9);    // at most the largest
  BOOST_TEST(adjusted_for_discoveries({0.04, 0.9, 1})[0] > 0.1); // a p that is significant alone is not among three
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
