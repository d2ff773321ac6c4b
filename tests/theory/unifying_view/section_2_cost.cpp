// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(section_2_cost)

BOOST_AUTO_TEST_CASE(at_points_of_our_own) {
  const Finding all = check_claim_at("blog_softmax_quadratic", {{"T", "9"}, {"dk", "3"}, {"dv", "7"}}, 4);
  BOOST_TEST(all.points.front().measured == 45 * 10);
  check_claim_at("blog_softmax_quadratic", {{"T", "15"}, {"dk", "8"}, {"dv", "8"}}, 4); // as dear as linear attention
  const Finding token = check_claim_at("blog_cost_per_token", {{"T", "33"}, {"dk", "3"}, {"dv", "7"}}, 4);
  BOOST_TEST(token.points.front().measured == 42);
  check_claim_at("blog_compression", {{"T", "10"}, {"dk", "5"}, {"dv", "2"}}, 4);
  refuse_point("blog_compression", {{"T", "1000"}});
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
