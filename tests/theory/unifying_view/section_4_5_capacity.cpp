// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(section_4_5_capacity)

BOOST_AUTO_TEST_CASE(at_points_of_our_own) {
  check_claim_at("blog_capacity_deltanet", {{"n", "24"}, {"d", "6"}}, 4);
  check_claim_at("blog_capacity_gated", {{"n", "40"}, {"d", "6"}, {"alpha", "0.9"}}, 4);
  // Three items, alpha = 0.9, by hand: the last is exact. The second sees one write, p = 0.81 (1 - 2/d + 2/(d(d+2)) + F
  // / (d(d+2))) + 1/d with F = 0.81 (1 - 1/d) + 1; the first a second one.
  const double d = 4, pairs = 1 / (d * (d + 2)), F1 = 1, F2 = 0.81 * (1 - 1 / d) * F1 + 1, keep = 1 - 2 / d + 2 * pairs;
  const double second = 0.81 * (keep + F2 * pairs) + 1 / d - 2 * 0.9 * (1 - 1 / d) + 1;
  const double once = 0.81 * (keep + F1 * pairs) + 1 / d;
  const double first = 0.81 * (once * keep + F2 * pairs) + 1 / d - 2 * std::pow(0.9 * (1 - 1 / d), 2) + 1;
  const Finding three = check_claim_at("blog_capacity_gated", {{"n", "3"}, {"d", "4"}, {"alpha", "0.9"}}, 4);
  BOOST_TEST(three.points.front().predicted == (first + second) / 3, boost::test_tools::tolerance(1e-12));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
