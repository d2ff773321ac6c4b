// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(section_3_capacity)

BOOST_AUTO_TEST_CASE(at_points_of_our_own) {
  const Finding crowded = check_claim_at("blog_capacity_linear", {{"n", "20"}, {"d", "5"}}, 4);
  BOOST_TEST(crowded.points[1].predicted == 19.0 / 5);
  check_claim_at("blog_capacity_linear", {{"n", "6"}, {"d", "24"}}, 4);
  check_claim_at("blog_capacity_argmax", {{"n", "48"}, {"d", "12"}, {"dv", "700"}}, 4);
}

BOOST_AUTO_TEST_CASE(decoding_needs_wide_values) {
  refuse_point("blog_capacity_argmax", {{"n", "128"}, {"d", "16"}, {"dv", "16"}});
  refuse_point("blog_capacity_argmax", {{"n", "8"}, {"d", "16"}, {"dv", "512"}}); // below the ceiling
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
