// SPDX-License-Identifier: Apache-2.0
#include "theory/associative_memory/tracking/packing.hpp"
#include "tests/theory/examine.hpp"

namespace recollect {
using namespace recollect::theory;
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(packing)

BOOST_AUTO_TEST_CASE(at_points_of_its_own) {
  check_claim_at("packing_random", {{"n", "30"}});
  check_claim_at("packing_structured", {{"d", "512"}});
  check_claim_at("packing_optimised_512_128", {{"n", "200"}, {"d", "110"}});
  check_claim_at("alpha_eps_choice", {{"alpha", "0.02"}});
  refuse_point("packing_optimised_512_128", {{"n", "400"}, {"d", "40"}}); // Welch's bound is above 1/8
  refuse_point("alpha_eps_choice", {{"alpha", "0.03"}});                  // alpha + eps is
}

BOOST_AUTO_TEST_CASE(bounds_by_hand) {
  // Three vectors in the plane at 120 degrees attain Welch's bound, 1/2.
  BOOST_TEST(std::fabs(welch(3, 2) - 0.5) < 1e-15);
  BOOST_TEST(std::fabs(random_width(2) - 128 * std::log(2.0)) < 1e-12);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
