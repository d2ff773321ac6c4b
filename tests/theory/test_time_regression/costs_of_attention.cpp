// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"
#include "theory/support/counted.hpp"
#include "theory/support/counted_layers.hpp"
#include "theory/support/dependence.hpp"

namespace recollect {
using namespace recollect::theory;
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(costs_of_attention)

BOOST_AUTO_TEST_CASE(claims_hold_at_points_of_my_own) {
  check_claim_at("softmax_t2_linear_t", {{"T", "17"}, {"Dk", "4"}, {"Dv", "6"}});
  check_claim_at("softmax_memory_grows", {{"t", "7"}, {"Dk", "3"}, {"Dv", "4"}});
  check_claim_at("local_linear_complexity_gram", {{"T", "15"}, {"Dk", "4"}, {"Dv", "2"}});
  check_claim_at("local_linear_complexity_other", {{"T", "9"}, {"Dk", "5"}, {"Dv", "1"}});
  refuse_point("local_linear_complexity_gram", {{"T", "9"}, {"Dk", "4"}});
}

BOOST_AUTO_TEST_CASE(counts_by_hand) {
  // One pair, Dk = 2, Dv = 1. Attention: two products for the score, one for the sum. Linear: two to write, two to read.
  const Tokens<Counted> x(one_head(1, {1, 0}, {3, 4}, {2}));
  BOOST_TEST(count([&] { Attention<Counted>{x}; }) == 3);
  BOOST_TEST(count([&] { linear_reads(x); }) == 4);
  BOOST_TEST(linear_reads(x)[0][0].value == 6);
}

BOOST_AUTO_TEST_CASE(a_read_depends_on_what_it_attends_to) {
  // Two pairs of Dk = 1, Dv = 1: softmax reads four numbers; at scale 0 the keys do not matter.
  const Sequence s = one_head(2, {1, 1}, {1, 2}, {3, 5});
  BOOST_TEST(numbers_read("softmax", s) == 4);
  BOOST_TEST(numbers_read("softmax", s, {{"scale", "0"}}) == 2);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
