// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(section_5_gating)

BOOST_AUTO_TEST_CASE(at_points_of_our_own) {
  check_claim_at("blog_mamba2_unrolled", {{"T", "6"}, {"Dk", "3"}, {"Dv", "5"}}, 4);
  check_claim_at("blog_mamba2_doubles", {{"alpha", "0.25"}}, 4);
  check_claim_at("blog_gating_bounds", {{"bar", "0.97"}}, 4);
}

BOOST_AUTO_TEST_CASE(three_writes_by_hand) {
  // alpha = 1/2 throughout: 1, 1 + 1/2, 1 + 1/2 + 1/4.
  Sequence s = one_head(3, {1, 1, 1}, {1, 1, 1}, {1, 1, 1});
  s.alpha = {0.5, 0.5, 0.5};
  check_close(forward(find_variant("mamba2"), s).o, {1, 1.5, 1.75}, 0);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
