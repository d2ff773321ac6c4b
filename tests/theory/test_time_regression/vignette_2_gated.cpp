// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(vignette_2_gated)

BOOST_AUTO_TEST_CASE(at_points_of_our_own) {
  check_claim_at("gated_linattn_eq16", {{"T", "6"}, {"Dk", "3"}, {"Dv", "4"}}, 4);
  check_claim_at("weighted_rls_woodbury", {{"T", "8"}, {"Dk", "3"}, {"Dv", "2"}}, 4);
}

BOOST_AUTO_TEST_CASE(forgetting_by_half_by_hand) {
  // One channel, keys 1 and 2, values 1 and 4, ridge 1, gates 1/2: (1/2 + 8) / (1/2 (1 + 1/2 1) + 4).
  Sequence s = one_head(2, {1, 1}, {1, 2}, {1, 4});
  s.alpha = {0.5, 0.5};
  const Variant &layer = find_variant("weighted_rls");
  const Output out = forward(layer, s, {"recurrent", Real::f64, 1, variant_params(layer, {{"ridge", "1"}})});
  BOOST_TEST(std::fabs(out.o[1] - 8.5 / 4.75) < 1e-14);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
