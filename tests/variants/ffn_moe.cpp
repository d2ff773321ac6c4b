// SPDX-License-Identifier: Apache-2.0
#include "tests/testing.hpp"

namespace recollect {
namespace {
Params experts(const char *block, const char *topk) {
  return variant_params(find_variant("ffn_moe"), {{"block", block}, {"topk", topk}});
}
} // namespace

BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(ffn_moe)

BOOST_AUTO_TEST_CASE(two_experts_by_hand) {
  // Each expert has one row and is chosen by w = (1, -1): q = 2 goes to expert 1 (2 * 3 * 5 = 30), q = -1 to expert 2
  // (-1 * -4 * 7 = 28).
  Sequence s = one_head(2, {2, -1}, {3, -4}, {5, 7});
  s.w = {1, -1};
  for (const char *form : {"recurrent", "parallel"})
    check_close(forward(find_variant("ffn_moe"), s, {form, Real::f64, 1, experts("1", "1")}).o, {30, 28}, 0);
}

BOOST_AUTO_TEST_CASE(of_equal_experts_the_first_is_chosen) {
  Sequence s = one_head(3, {1, 1, 1}, {1, 1, 1}, {5, 7, 11});
  for (const char *form : {"recurrent", "parallel"}) {
    check_close(forward(find_variant("ffn_moe"), s, {form, Real::f64, 1, experts("1", "1")}).o, {5, 5, 5}, 0);
    check_close(forward(find_variant("ffn_moe"), s, {form, Real::f64, 1, experts("1", "2")}).o, {12, 12, 12}, 0);
  }
}

BOOST_AUTO_TEST_CASE(every_expert_together_is_the_dense_network) { // 000 Eq 24 with every gate 1
  const Sequence s = random_sequence({1, 2, 30, 5, 4}, 19);
  for (const char *form : {"recurrent", "parallel"})
    check_close(forward(find_variant("ffn_moe"), s, {form, Real::f64, 8, experts("7", "5")}).o,
                forward(find_variant("ffn_relu"), s).o,
                accumulated_terms(s.shape, 8) * epsilon_of(Real::f64) * max_abs(s.v) * 30);
}

BOOST_AUTO_TEST_CASE(a_query_costs_its_router_and_the_experts_it_reads) {
  // 64 rows of Dk = 4 and Dv = 3, 8 rows per expert. A query costs 8 rows of the router, 2 Dk each, and 3 experts of 8
  // rows, 2 Dk and 2 Dv each.
  const Variant &layer = find_variant("ffn_moe");
  BOOST_TEST(layer.cost.flops.at({1, 1, 64, 4, 3}, experts("8", "3")) == 8 * 8 + 3 * 8 * (8 + 6));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
