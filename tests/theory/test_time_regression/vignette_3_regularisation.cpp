// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(vignette_3_regularisation)

BOOST_AUTO_TEST_CASE(at_points_of_our_own) {
  check_claim_at("leaky_lms_norm_notation", {{"Dk", "4"}, {"Dv", "6"}, {"beta", "0.7"}, {"lambda", "0.5"}}, 4);
  for (const char *id : {"leaky_lms_eq37", "gated_deltanet_map"})
    check_claim_at(id, {{"T", "6"}, {"Dk", "3"}, {"Dv", "2"}}, 4);
}

BOOST_AUTO_TEST_CASE(one_step_by_hand) {
  // M_0 = (1, 1), k = (2, 0), v = 4, e = 2. Leaky LMS with alpha = beta = 1/2 halves M_0 and adds e k / 2: (0.5, 0.5) +
  // (2, 0). Gated DeltaNet under the map, eta = 1 and v_prime = 2: (0.5, 0.5) + (2 - 1) (2, 0).
  Sequence s = one_head(1, {1, 0}, {2, 0}, {4});
  s.state = {1, 1}, s.beta = {0.5}, s.alpha = {0.5};
  check_close(forward(find_variant("leaky_lms"), s).state, {2.5, 0.5}, 1e-15);
  s.beta = {1}, s.v = {2};
  check_close(forward(find_variant("gated_delta_net"), s).state, {2.5, 0.5}, 1e-15);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
