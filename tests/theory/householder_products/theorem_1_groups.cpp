// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"
#include "theory/negative_eigenvalues/householder.hpp"

namespace recollect {
using namespace recollect::theory;
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(theorem_1_groups)

BOOST_AUTO_TEST_CASE(at_points_of_our_own) {
  check_claim_at("delta_product_symmetric_group", {{"n", "3"}, {"T", "20"}}, 4);
  check_claim_at("delta_product_rotation_groups", {{"T", "4000"}}, 4);
  check_claim_at("delta_product_norm", {{"beta", "1.2"}, {"cosine", "0.9"}}, 4);
}

BOOST_AUTO_TEST_CASE(a_cycle_of_three_by_hand) {
  // 0 -> 1 -> 2 -> 0: column j has its 1 in the row that j goes to.
  const std::vector<Householder> swaps = swaps_of({1, 2, 0});
  BOOST_TEST(swaps.size() == 2u);
  check_close(product(swaps).data, {0, 0, 1, 1, 0, 0, 0, 1, 0}, 1e-15);
  check_close({swaps_of({0, 2, 1})[0].beta, swaps_of({0, 2, 1})[1].beta}, {0, 2}, 0); // one swap is enough
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
