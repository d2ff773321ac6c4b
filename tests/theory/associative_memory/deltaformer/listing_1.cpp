// SPDX-License-Identifier: Apache-2.0
#include "theory/associative_memory/deltaformer/listing_1.hpp"
#include "tests/theory/examine.hpp"

namespace recollect {
using namespace recollect::theory;
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(listing_1)

BOOST_AUTO_TEST_CASE(at_points_of_its_own) {
  check_claim_at("listing1_equivalence", {{"T", "60"}, {"C", "12"}, {"d", "5"}});
  check_claim_at("listing1_tail", {{"T", "29"}, {"C", "7"}, {"d", "4"}});
  check_claim_at("listing1_parallel_blocks", {{"T", "50"}, {"C", "9"}, {"d", "6"}});
  check_claim_at("listing1_comment_iteration", {{"C", "16"}});
  refuse_point("listing1_equivalence", {{"T", "61"}, {"C", "12"}});
  refuse_point("listing1_tail", {{"T", "28"}, {"C", "7"}});
  refuse_point("listing1_parallel_blocks", {{"T", "20"}, {"C", "16"}});
}

BOOST_AUTO_TEST_CASE(three_rows_by_hand) {
  // Keys 1, 2, -1 in one dimension: A = [[0],[2,0],[-1,-2,0]], so u = v_1, v_2 - 2 u_1, v_3 + u_1 + 2 u_2.
  const Grid<double> K{{1}, {2}, {-1}}, V{{1}, {1}, {1}}, wanted{{1}, {-1}, {0}};
  BOOST_TEST((listing::naive(K, V, listing::Weights::linear) == wanted));
  for (listing::Solve solve : {listing::Solve::inverse, listing::Solve::substitution})
    BOOST_TEST((listing::chunked(K, V, {2, listing::Weights::linear, listing::Tail::ragged, solve}) == wanted));
  BOOST_TEST((listing::chunked(K, V, {2, listing::Weights::linear}) == Grid<double>{{1}, {-1}, {0}}));
}

BOOST_AUTO_TEST_CASE(inverse_by_hand) {
  Grid<double> A{{1, 0, 0}, {2, 1, 0}, {5, 3, 1}};
  listing::invert(A); // I - A + A^2: corner 2 . 3 - 5
  BOOST_TEST((A == Grid<double>{{1, 0, 0}, {-2, 1, 0}, {1, -3, 1}}));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
