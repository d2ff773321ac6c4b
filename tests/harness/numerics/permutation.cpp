// SPDX-License-Identifier: Apache-2.0
#include "harness/numerics/permutation.hpp"
#include "harness/numerics/random.hpp"
#include "tests/testing.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(permutation)

BOOST_AUTO_TEST_CASE(the_best_column_is_that_of_the_best_mean) {
  const Tried tried{{1, 3, 0}, {2, 4, 9}, {3, 2, 0}}; // means 2, 3, 3
  BOOST_TEST((best_column(tried) == 1u && best_column(tried, true) == 0u));
}

BOOST_AUTO_TEST_CASE(splits_are_counted_by_hand) {
  // Of the 20 splits of 1 ... 6 into threes only {4, 5, 6} has the largest sum, and only {1, 2, 3} the smallest.
  const Tried low{{1}, {2}, {3}}, high{{4}, {5}, {6}};
  BOOST_TEST((permutation_test(high, low).first_larger == 0.05 && permutation_test(high, low).second_larger == 1));
  BOOST_TEST(permutation_test(low, high).second_larger == 0.05);
  // {3, 5, 6} has the sum 14, which among the 20 splits only it and {4, 5, 6} reach.
  BOOST_TEST(permutation_test({{3}, {5}, {6}}, {{1}, {2}, {4}}).first_larger == 0.1);
  // Ties: every one of the 20 splits is as extreme as the given one.
  const PermutationTest alike = permutation_test({{1}, {1}, {1}}, {{1}, {1}, {1}});
  BOOST_TEST((alike.first_larger == 1 && alike.second_larger == 1));
  BOOST_TEST(permutation_test({{1}, {1}, {1}, {1}, {1}}, {{0}, {0}, {0}, {0}, {0}}).first_larger == 1.0 / 252);
}

/// One row each: {9, 0} and {0, 5}. The best of the first is 9, of the second 5; after exchanging the rows the
/// difference is -4. Fixed columns would compare 9 with 0.
BOOST_AUTO_TEST_CASE(each_split_chooses_its_columns) {
  const PermutationTest test = permutation_test({{9, 0}}, {{0, 5}});
  BOOST_TEST((test.first_larger == 0.5 && test.second_larger == 1));
  // Smaller is better here: both best values are 0 in either split.
  BOOST_TEST(permutation_test({{9, 0}}, {{0, 5}}, true).first_larger == 1);
}

/// If the groups do not differ, at most a twentieth of the tests may call them different, although each group uses its
/// best column. 400 pairs of groups of three are tested; the measured fraction has the standard error sqrt(.05 * .95 /
/// 400) = .011, and 6.47 standard errors are .07.
BOOST_AUTO_TEST_CASE(choosing_among_columns_makes_nothing_of_nothing) {
  int told = 0;
  for (std::uint64_t trial = 0; trial < 400; ++trial) {
    const std::vector<double> x = Stream(1, "permutation", trial).normals(24);
    Tried groups[2];
    for (size_t i = 0; i < 6; ++i) groups[i / 3].push_back({x.begin() + 4 * long(i), x.begin() + 4 * long(i) + 4});
    told += permutation_test(groups[0], groups[1]).first_larger <= 0.05;
  }
  BOOST_TEST((told > 0 && told / 400.0 < 0.05 + 0.07));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
