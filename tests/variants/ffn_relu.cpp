// SPDX-License-Identifier: Apache-2.0
#include "tests/testing.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(ffn_relu)

BOOST_AUTO_TEST_CASE(two_rows_by_hand) {
  // W_K = [[1,2],[-1,1]], W_V^T = [3, 5]. x_1 = (1,1): hidden (3, 0), o_1 = 9. x_2 = (-2,1): hidden (0, 3), o_2 = 15.
  const Sequence s = one_head(2, {1, 1, -2, 1}, {1, 2, -1, 1}, {3, 5});
  for (const char *form : {"recurrent", "parallel"})
    check_close(forward(find_variant("ffn_relu"), s, {form, Real::f64, 1, {}}).o, {9, 15}, 0);
}

BOOST_AUTO_TEST_CASE(the_last_query_of_relu_attention_sees_the_same) {
  const Sequence s = random_sequence({1, 2, 40, 6, 4}, 16);
  const std::vector<double> network = forward(find_variant("ffn_relu"), s).o,
                            attention = forward(find_variant("relu_kernel"), s).o;
  for (int head = 0; head < 2; ++head) {
    const int last = (head * 40 + 39) * 4;
    check_close({network.begin() + last, network.begin() + last + 4},
                {attention.begin() + last, attention.begin() + last + 4}, 0);
  }
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
