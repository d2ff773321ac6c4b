// SPDX-License-Identifier: Apache-2.0
#include "tests/testing.hpp"
#include <cmath>

namespace recollect {
namespace {
Params blocks(const char *block, const char *topk) {
  return variant_params(find_variant("moba"), {{"block", block}, {"topk", topk}});
}
} // namespace

BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(moba)

BOOST_AUTO_TEST_CASE(chosen_blocks_by_hand) {
  // Blocks of two keys: {1,3}, {-1,-3}, {0}. Queries of 0 weigh all keys alike, so that a read is the mean of the
  // values that it sees. At step 5 the scores of the blocks are equal and the first block is chosen: the values 4 and
  // 8, and 3 of the step itself, have the mean 5.
  const Sequence s = one_head(5, {0, 0, 0, 0, 0}, {1, 3, -1, -3, 0}, {4, 8, 1, 5, 3});
  for (const char *form : {"recurrent", "parallel"}) {
    check_close(forward(find_variant("moba"), s, {form, Real::f64, 1, blocks("2", "2")}).o, {4, 6, 13 / 3.0, 4.5, 5},
                32 * epsilon_of(Real::f64));
    check_close(forward(find_variant("moba"), s, {form, Real::f64, 1, blocks("2", "1")}).o, {4, 6, 1, 3, 3},
                32 * epsilon_of(Real::f64));
  }
}

BOOST_AUTO_TEST_CASE(a_query_goes_to_the_block_whose_mean_is_nearest) {
  // q_5 = -500 has the score -1000 at block {1,3} and 1000 at {-1,-3}. In the chosen block key -3 has all the weight.
  const Sequence s = one_head(5, {0, 0, 0, 0, -500}, {1, 3, -1, -3, 0}, {4, 8, 1, 5, 3});
  for (const char *form : {"recurrent", "parallel"})
    BOOST_TEST(forward(find_variant("moba"), s, {form, Real::f64, 1, blocks("2", "2")}).o.back() == 5);
}

BOOST_AUTO_TEST_CASE(reading_every_block_is_softmax_attention) {
  const Sequence s = random_sequence({2, 2, 61, 8, 4}, 20);
  const double bound = accumulated_terms(s.shape, 8) * epsilon_of(Real::f64) * max_abs(s.v);
  for (const char *form : {"recurrent", "parallel"})
    check_close(forward(find_variant("moba"), s, {form, Real::f64, 8, blocks("8", "8")}).o,
                forward(find_variant("softmax"), s).o, bound);
}

BOOST_AUTO_TEST_CASE(
    the_choice_does_not_depend_on_the_queries_length) { // 000 Eq 26: invariant to positive scaling of q
  Sequence s = random_sequence({1, 1, 40, 8, 4}, 21);
  const Variant &layer = find_variant("moba");
  const Output once = forward(layer, s, {"parallel", Real::f64, 8, blocks("4", "3")});
  Params halved = blocks("4", "3");
  halved.set("scale", 0.5 / std::sqrt(8.0));
  for (double &x : s.q) x *= 2;
  check_close(forward(layer, s, {"parallel", Real::f64, 8, halved}).o, once.o,
              accumulated_terms(s.shape, 8) * epsilon_of(Real::f64) * max_abs(s.v));
}

BOOST_AUTO_TEST_CASE(a_query_costs_the_blocks_before_it_and_those_it_reads) {
  // 63 steps of Dk = 4 and Dv = 3, 8 keys per block: 32 keys before one on average, so 4 means of 2 Dk; then 2 blocks of 8
  // keys, 2 Dk, 2 Dv and an exponential each
  const Variant &layer = find_variant("moba");
  BOOST_TEST(layer.cost.flops.at({1, 1, 63, 4, 3}, blocks("8", "2")) == 4 * 8 + 2 * 8 * (8 + 6));
  BOOST_TEST(layer.cost.functions.at({1, 1, 63, 4, 3}, blocks("8", "2")) == 2 * 8);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
