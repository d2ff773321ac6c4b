// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"
#include "theory/log_linear_attention/fenwick.hpp"

namespace recollect {
using namespace recollect::theory;
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(section_3_fenwick)

BOOST_AUTO_TEST_CASE(at_points_of_our_own) {
  check_claim_at("log_linear_states", {{"T", "1000"}}, 4);
  check_claim_at("log_linear_weights_of_one", {{"T", "23"}, {"Dk", "3"}, {"Dv", "2"}}, 4);
}

BOOST_AUTO_TEST_CASE(blocks_by_hand) {
  // 6 is 110 in base two: before token 6 (counted from 0) stand a block of 2 and one of 4. 4 is 100: one block of 4.
  using Blocks = std::vector<std::pair<int, int>>;
  BOOST_TEST((blocks_of(6) == Blocks{{6, 7}, {4, 6}, {0, 4}}));
  BOOST_TEST((blocks_of(4) == Blocks{{4, 5}, {0, 4}}));
  BOOST_TEST((blocks_of(0) == Blocks{{0, 1}}));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
