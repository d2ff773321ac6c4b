// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"
#include "theory/associative_memory/deltaformer/listing_1.hpp"
#include "theory/support/counted.hpp"

namespace recollect {
using namespace recollect::theory;
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(deltaformer_costs)

BOOST_AUTO_TEST_CASE(at_points_of_its_own) {
  check_claim_at("complexity_chunked", {{"T", "60"}, {"C", "12"}, {"d", "5"}});
  check_claim_at("complexity_full_inverse", {{"T", "11"}, {"d", "3"}});
  check_claim_at("complexity_inference", {{"t", "100"}, {"d", "6"}});
  check_claim_at("complexity_inference", {{"t", "40"}, {"d", "16"}});
  refuse_point("complexity_chunked", {{"T", "60"}, {"C", "16"}});
  refuse_point("complexity_inference", {{"t", "8"}, {"d", "16"}});
}

BOOST_AUTO_TEST_CASE(two_steps_by_hand) {
  // d = 3: one score of 3 products, one vector of 3.
  const Grid<Counted> K{{1, 0, 2}, {3, 1, 1}}, V{{1, 2, 3}, {4, 5, 6}};
  BOOST_TEST(count([&] { listing::naive(K, V, listing::Weights::linear); }) == 6);
  Grid<Counted> two{{2, 1}, {1, 1}};
  BOOST_TEST(count([&] { listing::invert(two); }) == 8);
  BOOST_TEST((two[0][0].value == 1 && two[0][1].value == -1 && two[1][0].value == -1 && two[1][1].value == 2));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
