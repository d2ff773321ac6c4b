// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"
#include "theory/gated_delta_net_2/erase_and_write.hpp"

namespace recollect {
using namespace recollect::theory;
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(gates_of_gdn2)

BOOST_AUTO_TEST_CASE(at_points_of_our_own) {
  check_claim_at("gdn2_equal_gates", {{"T", "20"}, {"Dk", "7"}, {"Dv", "2"}}, 4);
}

BOOST_AUTO_TEST_CASE(one_token_by_hand) {
  // S = (2, 4) decays to (1, 2); b . k = (1/2, 0), read 1/2; w v = 3; what is written is 5/2 k = (5/2, 5/2).
  check_close(erase_and_write(Dense(1, 2, {2, 4}), Dense(2, 1, {1, 1}), Dense(1, 1, {6}), Dense(2, 1, {0.5, 0.5}),
                              Dense(2, 1, {0.5, 0}), Dense(1, 1, {0.5}))
                  .data,
              {3.5, 4.5}, 0);
}

BOOST_AUTO_TEST_CASE(two_keys_in_turn_by_hand) {
  // Share 1/2: keys (-1, 1) / sqrt 2 twice. I - (0, k2) k^T = (1, 0; 1/2, 1/2), I - (k1, 0) k^T = (1/2, 1/2; 0, 1).
  check_close(in_turn(0.5).data, {0.5, 0.5, 0.25, 0.75}, 1e-15);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
