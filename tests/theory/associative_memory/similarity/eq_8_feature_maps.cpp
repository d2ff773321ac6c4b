// SPDX-License-Identifier: Apache-2.0
#include "harness/core/error.hpp"
#include "tests/theory/examine.hpp"
#include "theory/associative_memory/similarity/vector_pair.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(eq_8_feature_maps)

BOOST_AUTO_TEST_CASE(at_points_of_our_own) {
  check_claim_at("relu_kernel_psd", {{"degrees", "48"}});
  check_claim_at("feature_maps_exact", {{"d", "4"}, {"product", "0.5"}});
  check_claim_at("feature_maps_random", {{"d", "4"}, {"features", "24"}});
}

BOOST_AUTO_TEST_CASE(an_angle_at_which_nothing_is_violated) {
  BOOST_CHECK_THROW(check_claim_at("relu_kernel_psd", {{"degrees", "60"}}), Error);
}

BOOST_AUTO_TEST_CASE(pairs_have_the_norms_and_the_product_asked_for) {
  const theory::VectorPair pair = theory::draw_pair(5, 2, -0.7, 4);
  BOOST_TEST(std::fabs(inner(pair.x, pair.x) - 2) < 1e-14);
  BOOST_TEST(std::fabs(inner(pair.y, pair.y) - 2) < 1e-14);
  BOOST_TEST(std::fabs(inner(pair.x, pair.y) + 0.7) < 1e-14);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
