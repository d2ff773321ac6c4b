// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(vignette_3_nlms)

BOOST_AUTO_TEST_CASE(at_points_of_our_own) {
  for (const char *id : {"nlms_limit"}) {
    check_claim_at(id, {{"delta", "3"}, {"norm", "0.8"}, {"Dk", "4"}, {"Dv", "2"}}, 4);
    check_claim_at(id, {{"delta", "0.2"}, {"norm", "1"}, {"Dk", "7"}, {"Dv", "1"}}, 4);
  }
  check_claim_at("nlms_eq33", {{"norm", "2"}, {"Dk", "4"}, {"Dv", "2"}}, 4);
  check_claim_at("kaczmarz_convergence", {{"n", "3"}, {"Dk", "5"}, {"Dv", "2"}, {"cosine", "0.6"}, {"sweeps", "7"}}, 4);
  refuse_point("kaczmarz_convergence", {{"n", "7"}});
  refuse_point("nlms_limit", {{"delta", "1000"}});
}

BOOST_AUTO_TEST_CASE(one_step_by_hand) {
  // M_0 = (1, 1), k = (2, 0), v = 4: M_0 k = 2, e = 2. NLMS adds e k / |k|^2 = (1, 0); Longhorn with delta = 1 adds e k
  // / (1 + 4) = (0.8, 0): the gap is -e k / (|k|^2 (1 + delta |k|^2)) = -(0.2, 0). DeltaNet with beta = 1/2 adds e k /
  // 2.
  Sequence s = one_head(1, {1, 0}, {2, 0}, {4});
  s.state = {1, 1};
  check_close(forward(find_variant("nlms"), s).state, {2, 1}, 1e-15);
  check_close(forward(find_variant("longhorn"), s).state, {1.8, 1}, 1e-15);
  s.beta = {0.5};
  check_close(forward(find_variant("delta_net"), s).state, {3, 1}, 1e-15);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
