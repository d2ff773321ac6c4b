// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(section_4_delta_rule)

BOOST_AUTO_TEST_CASE(at_points_of_our_own) {
  check_claim_at("blog_delta_gradient", {{"d", "5"}, {"dv", "7"}, {"beta", "0.9"}, {"norm", "1.2"}}, 4);
  check_claim_at("blog_shrink", {{"d", "3"}, {"beta", "1.9"}}, 4);
  check_claim_at("blog_overwrite", {{"beta", "0.45"}, {"norm", "2"}}, 4);
  check_claim_at("blog_overwrite", {{"beta", "0.45"}, {"norm", "1"}}, 4);
  check_claim_at("blog_orthogonal_untouched", {{"d", "2"}, {"dv", "1"}, {"beta", "3"}, {"norm", "0.5"}}, 4);
  check_claim_at("blog_write_proportional", {{"d", "12"}, {"beta", "0.1"}, {"norm", "1"}}, 4);
  check_claim_at("blog_write_twice", {{"step", "0.8"}}, 4);
}

BOOST_AUTO_TEST_CASE(one_write_by_hand) {
  // S = (1, 2), k = (1, 0), v = 5, beta = 1/2: S k = 1, S becomes S + (5 - 1) / 2 k^T = (3, 2), and after the same
  // write again (4, 2): half of the first.
  Sequence s = one_head(2, {1, 0, 1, 0}, {1, 0, 1, 0}, {5, 5});
  s.beta = {0.5, 0.5}, s.state = {1, 2};
  const Output out = forward(find_variant("delta_net"), s);
  check_close(out.o, {3, 4}, 0); // (1 - beta) v_old + beta v each time
  check_close(out.state, {4, 2}, 0);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
