// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"
#include "theory/associative_memory/tracking/packing.hpp"

namespace recollect {
using namespace recollect::theory;
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(assumption_1)

BOOST_AUTO_TEST_CASE(at_points_of_its_own) {
  check_claim_at("theorem1_eps_threshold", {{"eps", "0.07"}});
  check_claim_at("theorem1_random_keys", {{"n", "60"}, {"d", "100"}});
  check_claim_at("theorem1_random_keys", {{"n", "300"}, {"d", "512"}}, 2);
  refuse_point("theorem1_eps_threshold", {{"eps", "0.13"}});
  refuse_point("theorem1_random_keys", {{"n", "8"}, {"d", "4096"}}); // almost orthogonal enough
}

BOOST_AUTO_TEST_CASE(share_of_pairs_in_three_dimensions) {
  // The cosine of two directions is uniform on [-1, 1] there.
  BOOST_TEST(std::fabs(share_beyond(0.125, 3) - 0.875) < 1e-12);
  BOOST_TEST(std::fabs(share_beyond(0.5, 3) - 0.5) < 1e-12);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
