// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(section_2_linear_attention)

BOOST_AUTO_TEST_CASE(at_points_of_our_own) {
  check_claim_at("blog_mask", {{"T", "7"}, {"Dk", "3"}, {"Dv", "2"}}, 4);
  check_claim_at("blog_kernel_factoring", {{"T", "33"}, {"Dk", "5"}, {"Dv", "9"}}, 4);
  check_claim_at("blog_denominator_unstable", {{"T", "12"}, {"Dk", "3"}, {"Dv", "1"}}, 4);
}

BOOST_AUTO_TEST_CASE(two_tokens_by_hand) {
  // q = k = 1, v = (1, 2): o = (1, (1 + 2) / 2); with phi = elu + 1 = 2 the weights are equal too.
  Sequence s = one_head(2, {1, 1}, {1, 1}, {1, 2});
  for (const char *layer : {"softmax", "linear_elu"}) check_close(forward(find_variant(layer), s).o, {1, 1.5}, 1e-15);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
