// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(section_7_3_hierarchy)

BOOST_AUTO_TEST_CASE(claims_hold_at_points_of_my_own) {
  check_claim_at("vla_7.3_residual_only_diverges", {{"d", "3"}, {"T", "7"}});
  check_claim_at("vla_7.3_no_residual_scaled_linear", {{"d", "9"}, {"T", "12"}});
  check_claim_at("vla_7.3_spherical_rescaling", {{"d", "4"}, {"dv", "4"}, {"T", "6"}});
  check_claim_at("vla_strictly_generalises", {{"beta", "0.8"}, {"T", "3"}});
}

BOOST_AUTO_TEST_CASE(two_gaussian_keys_in_the_plane_by_hand) {
  // E|S_2|^2 / E|v|^2 = E|(I - k2 k2^T) k1|^2 + E|k2|^2 = (2 - 4 + 8) + 2.
  const Finding found = check_claim_at("vla_7.3_residual_only_diverges", {});
  for (const Point &point : found.points)
    if (point.role == Role::obligation && point.params.has("keys") && point.params.integer("T") == 2)
      BOOST_TEST(std::fabs(point.measured - 8) < 1e-12);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
