// SPDX-License-Identifier: Apache-2.0
#include "harness/core/error.hpp"
#include "tests/theory/examine.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(eq_14_feed_forward)

BOOST_AUTO_TEST_CASE(at_points_of_our_own) {
  check_claim_at("ffn_relu_memory", {{"m", "7"}, {"d", "3"}, {"dv", "2"}});
  check_claim_at("ffn_swiglu", {{"m", "11"}, {"d", "4"}, {"dv", "3"}});
  check_claim_at("ffn_moe", {{"m", "20"}, {"block", "4"}, {"topk", "2"}});
}

BOOST_AUTO_TEST_CASE(experts_that_do_not_partition_the_rows) {
  BOOST_CHECK_THROW(check_claim_at("ffn_moe", {{"m", "20"}, {"block", "6"}}), Error);
  BOOST_CHECK_THROW(check_claim_at("ffn_moe", {{"m", "12"}, {"block", "6"}, {"topk", "2"}}), Error);
}

BOOST_AUTO_TEST_CASE(heads_are_rows_of_one_network) {
  check_claim_at("ffn_multihead_sum", {{"m", "9"}, {"half", "4"}});
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
