// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(section_4_forgetting)

BOOST_AUTO_TEST_CASE(at_points_of_our_own) {
  check_claim_at("blog_never_forgets", {{"d", "3"}, {"writes", "40"}, {"beta", "0.7"}, {"cosine", "0.6"}}, 4);
  const Finding forgets = check_claim_at("blog_forgets_random_keys", {{"d", "8"}, {"m", "6"}, {"beta", "0.5"}}, 4);
  BOOST_TEST(forgets.points[1].predicted == std::pow(1 - 0.5 / 8, 6));
}

BOOST_AUTO_TEST_CASE(a_write_nearby_by_hand) {
  // S = (1, 0); a write of 0 at k = (0.6, 0.8) with beta = 1 leaves S - 0.6 k = (0.64, -0.48): 1 - 0.36 at (1, 0).
  Sequence s = one_head(1, {1, 0}, {0.6, 0.8}, {0});
  s.beta = {1}, s.state = {1, 0};
  check_close(forward(find_variant("delta_net"), s).o, {0.64}, 1e-15);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
