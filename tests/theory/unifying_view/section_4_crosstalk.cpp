// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(section_4_crosstalk)

BOOST_AUTO_TEST_CASE(at_points_of_our_own) {
  check_claim_at("blog_linear_doubles", {{"d", "3"}, {"dv", "2"}, {"norm", "0.4"}, {"cosine", "0.9"}}, 4);
  check_claim_at("blog_kold_readout", {{"d", "17"}, {"beta", "1.3"}, {"cosine", "-0.5"}}, 4);
  check_claim_at("blog_gated_kold", {{"beta", "0.2"}, {"cosine", "0.7"}, {"alpha", "0.5"}}, 4);
}

BOOST_AUTO_TEST_CASE(a_write_beside_an_old_key_by_hand) {
  // S = (1, 2), k_new = (0.6, 0.8), k_old = (1, 0), v = 5, beta = 1/2: S k_new = 2.2, so that the read at k_old moves
  // from 1 by 0.5 * 0.6 * (5 - 2.2) = 0.84; under a gate of 1/2 it is 0.5 - 0.15 * 2.2 + 0.3 * 5 = 1.67.
  Sequence s = one_head(1, {1, 0}, {0.6, 0.8}, {5});
  s.beta = {0.5}, s.state = {1, 2};
  check_close(forward(find_variant("delta_net"), s).o, {1.84}, 1e-15);
  s.alpha = {0.5};
  check_close(forward(find_variant("gated_delta_net"), s).o, {1.67}, 1e-15);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
