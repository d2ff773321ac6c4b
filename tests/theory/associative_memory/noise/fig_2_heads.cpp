// SPDX-License-Identifier: Apache-2.0
#include "harness/core/error.hpp"
#include "tests/theory/examine.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(fig_2_heads)

BOOST_AUTO_TEST_CASE(at_a_point_of_our_own) {
  const Finding finding = check_claim_at("fig2_head_noise", {{"D", "60"}, {"heads", "4"}});
  BOOST_TEST(finding.points.front().predicted == 1.0 / 58);
}

BOOST_AUTO_TEST_CASE(heads_that_do_not_divide_the_width) {
  BOOST_CHECK_THROW(check_claim_at("fig2_head_noise", {{"D", "60"}, {"heads", "7"}}), Error);
}

BOOST_AUTO_TEST_CASE(trained_results_are_not_tested) {
  for (const char *id : {"fig2_training", "dimension_scaling", "polysemantic_hypothesis"})
    BOOST_TEST(std::string(name_of(examine(find_claim(id), {}).verdict)) == "not_tested");
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
