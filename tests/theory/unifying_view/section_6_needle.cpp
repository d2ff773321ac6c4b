// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(section_6_needle)

BOOST_AUTO_TEST_CASE(at_points_of_our_own) {
  check_claim_at("blog_needle_retention", {{"d", "12"}, {"m", "10"}, {"r", "3"}, {"alpha", "0.9"}}, 4);
  refuse_point("blog_needle_retention", {{"m", "4"}, {"r", "6"}}); // not all of the six are written
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
