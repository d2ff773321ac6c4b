// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(vignette_3_several_steps)

BOOST_AUTO_TEST_CASE(at_points_of_our_own) {
  check_claim_at("deltaproduct_sequence", {{"T", "5"}, {"Dk", "6"}, {"Dv", "2"}, {"n", "4"}}, 4);
  check_claim_at("deltaproduct_same_pair", {{"T", "5"}, {"Dk", "6"}, {"Dv", "2"}, {"steps", "4"}}, 4);
  refuse_point("deltaproduct_sequence", {{"n", "5"}}); // no more than Dk independent keys
}

BOOST_AUTO_TEST_CASE(two_steps_by_hand) {
  // k = 1, v = 1, beta = 1/2 from 0: 1/2, then 3/4.
  Sequence s = one_head(1, {1}, {1}, {1});
  s.beta = {0.5};
  const Variant &layer = find_variant("delta_product");
  check_close(forward(layer, s, {"recurrent", Real::f64, 1, variant_params(layer, {{"householder", "2"}})}).o, {0.75},
              0);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
