// SPDX-License-Identifier: Apache-2.0
#include "harness/numerics/paired.hpp"
#include "tests/testing.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(paired)

BOOST_AUTO_TEST_CASE(three_pairs_by_hand) {
  // Differences 1, 2, 3: of 8 sign patterns only +++ and --- have a mean as far from 0 as 2. The standard error is
  // 1 / sqrt(3), the 97.5% quantile of Student's t with 2 degrees of freedom 4.302653.
  const PairedComparison found = compare_pairs({2, 4, 6}, {1, 2, 3});
  BOOST_TEST(found.difference == 2);
  BOOST_TEST(found.p == 0.25);
  BOOST_TEST(std::fabs(found.high - (2 + 4.302652729911275 / std::sqrt(3))) < 1e-9);
  BOOST_TEST(std::fabs(found.low - (2 - 4.302652729911275 / std::sqrt(3))) < 1e-9);
  // 1, 2, -3: the sum is 0, and no sign pattern has a sum closer to 0.
  BOOST_TEST(compare_pairs({1, 2, 0}, {0, 0, 3}).p == 1);
  // 3, 2, -1: |sum| = 4 or 6 in 4 of 8 patterns.
  BOOST_TEST(compare_pairs({3, 2, 0}, {0, 0, 1}).p == 0.5);
}

BOOST_AUTO_TEST_CASE(the_pairing_counts_and_the_order_of_the_two_does_not) {
  const std::vector<double> hard_and_easy{0.1, 0.5, 0.9, 0.3, 0.7}, better{0.12, 0.52, 0.92, 0.32, 0.72};
  const PairedComparison found = compare_pairs(better, hard_and_easy), mirrored = compare_pairs(hard_and_easy, better);
  BOOST_TEST(found.p ==
             2.0 / 32); // the same difference on every seed, small compared with the differences between seeds
  BOOST_TEST(mirrored.p == found.p);
  BOOST_TEST((found.difference == -mirrored.difference && found.low == -mirrored.high));
  BOOST_TEST(smallest_p(5) == 2.0 / 32);
}

BOOST_AUTO_TEST_CASE(equal_layers_are_not_told_apart) {
  const PairedComparison found = compare_pairs({1, 1, 1, 1}, {1, 1, 1, 1});
  BOOST_TEST((found.difference == 0 && found.p == 1 && found.low == 0 && found.high == 0));
}

BOOST_AUTO_TEST_CASE(many_pairs_are_sampled) {
  std::vector<double> first, second;
  for (int i = 0; i < 20; ++i) first.push_back(i % 2 ? 1 : -1), second.push_back(0); // as many of either sign
  BOOST_TEST(compare_pairs(first, second).p == 1);
  for (double &x : first) x = 1;
  BOOST_TEST((compare_pairs(first, second).p < 1e-3 && compare_pairs(first, second).p >= smallest_p(20)));
  // One of 17 differs in sign: exactly (1 + 17 + ...) 2 / 2^17; the sampled p has that size.
  first.resize(17), second.resize(17), first[0] = -1;
  BOOST_TEST(compare_pairs(first, second).p < 2e-3);
}

BOOST_AUTO_TEST_CASE(one_pair_and_numbers_that_are_none_decide_nothing) {
  const PairedComparison one = compare_pairs({2}, {1});
  BOOST_TEST((one.p == 1 && std::isinf(one.high) && std::isinf(one.low)));
  for (double bad : {double(NAN), double(INFINITY)}) BOOST_TEST(std::isnan(compare_pairs({1, bad}, {1, 2}).p));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
