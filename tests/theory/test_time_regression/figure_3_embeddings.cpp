// SPDX-License-Identifier: Apache-2.0
#include "harness/numerics/keys.hpp"
#include "tests/theory/examine.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(figure_3_embeddings)

BOOST_AUTO_TEST_CASE(claims_hold_at_points_of_my_own) {
  check_claim_at("mqar_p128_rls_construction", {{"T", "600"}, {"offset", "5"}});
  check_claim_at("mqar_welch_128_64", {{"P", "40"}, {"d", "12"}});
  refuse_point("mqar_welch_128_64", {{"P", "12"}, {"d", "12"}});
}

BOOST_AUTO_TEST_CASE(three_unit_vectors_in_the_plane) {
  // At 120 degrees: |cosine| 1/2 = sqrt((3 - 2) / (2 * 2)), the least possible.
  const double h = std::sqrt(0.75);
  BOOST_TEST(std::fabs(recollect::coherence({1, 0, -0.5, h, -0.5, -h}, 3, 2) - 0.5) < 1e-15);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
