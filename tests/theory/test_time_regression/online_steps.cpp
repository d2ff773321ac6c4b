// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(online_steps)

BOOST_AUTO_TEST_CASE(claims_come_out_as_stated) {
  check_claims({"gated_linattn_*", "deltanet_sgd", "longhorn_*", "nlms_*", "kaczmarz_convergence", "leaky_lms_*",
                "gated_deltanet_map*", "sgd_recency"});
}

BOOST_AUTO_TEST_CASE(one_step_by_hand) {
  // M_0 = (1, 1), k = (2, 0), v = 4: M_0 k = 2, e = 2. NLMS adds e k / |k|^2 = (1, 0); Longhorn with delta = 1 adds
  // e k / (1 + 4) = (0.8, 0): the gap is -e k / (|k|^2 (1 + delta |k|^2)) = -(0.2, 0). DeltaNet with beta = 1/2 adds e
  // k / 2 = (2, 0).
  Sequence s = one_head(1, {1, 0}, {2, 0}, {4});
  s.state = {1, 1}, s.beta = {0.5}, s.alpha = {0.5};
  check_close(forward(find_variant("nlms"), s).state, {2, 1}, 1e-15);
  check_close(forward(find_variant("longhorn"), s).state, {1.8, 1}, 1e-15);
  check_close(forward(find_variant("delta_net"), s).state, {3, 1}, 1e-15);
  // Leaky LMS halves M_0 first: (0.5, 0.5) + (2, 0). Gated DeltaNet under the map, eta = 1 and v' = 2: (0.5, 0.5) + (2
  // - 1) (2, 0).
  check_close(forward(find_variant("leaky_lms"), s).state, {2.5, 0.5}, 1e-15);
  s.beta = {1}, s.v = {2};
  check_close(forward(find_variant("gated_delta_net"), s).state, {2.5, 0.5}, 1e-15);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
