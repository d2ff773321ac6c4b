// SPDX-License-Identifier: Apache-2.0
#include "harness/call/shared_heads.hpp"
#include "tests/testing.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(shared_heads)

const std::vector<double> two_heads{1, 2, 3, 4, 5, 6, 7, 8}; // [B,heads,size] = [2,2,2]

BOOST_AUTO_TEST_CASE(heads_are_repeated_for_neighbours_or_in_turns) {
  BOOST_TEST((shared_head(2, 2, 4, false) == 1 && shared_head(2, 2, 4, true) == 0));
  BOOST_TEST((for_every_head(two_heads, 2, 2, 4, false) ==
              std::vector<double>{1, 2, 1, 2, 3, 4, 3, 4, 5, 6, 5, 6, 7, 8, 7, 8}));
  BOOST_TEST((for_every_head(two_heads, 2, 2, 4, true) ==
              std::vector<double>{1, 2, 3, 4, 1, 2, 3, 4, 5, 6, 7, 8, 5, 6, 7, 8}));
  BOOST_TEST((for_every_head(two_heads, 2, 2, 2, true) == two_heads));
}

BOOST_AUTO_TEST_CASE(the_adjoint_sums_over_the_heads_that_use_a_head) {
  const std::vector<double> all{1, 2, 3, 4, 50, 60, 70, 80}; // [2,4,1]
  BOOST_TEST((summed_over_sharing(all, 2, 2, 4, false) == std::vector<double>{3, 7, 110, 150}));
  BOOST_TEST((summed_over_sharing(all, 2, 2, 4, true) == std::vector<double>{4, 6, 120, 140}));
  BOOST_TEST((summed_over_sharing(all, 2, 1, 4, false) == std::vector<double>{10, 260}));
  BOOST_TEST((summed_over_sharing(all, 2, 4, 4, true) == all));
}

BOOST_AUTO_TEST_CASE(the_first_of_the_heads_that_share_is_kept) {
  BOOST_TEST((first_of_sharing({1, 2, 3, 4, 5, 6, 7, 8}, 1, 2, 4) == std::vector<double>{1, 2, 5, 6}));
  BOOST_TEST((first_of_sharing(two_heads, 2, 1, 2) == std::vector<double>{1, 2, 5, 6}));
  BOOST_TEST((first_of_sharing(two_heads, 2, 2, 2) == two_heads));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
