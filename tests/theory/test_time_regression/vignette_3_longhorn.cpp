// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(vignette_3_longhorn)

BOOST_AUTO_TEST_CASE(at_points_of_our_own) {
  for (const char *id : {"longhorn_eq31", "longhorn_conservative", "longhorn_ell_factor2"}) {
    check_claim_at(id, {{"delta", "3"}, {"norm", "0.8"}, {"Dk", "4"}, {"Dv", "2"}}, 4);
    check_claim_at(id, {{"delta", "0.2"}, {"norm", "1"}, {"Dk", "7"}, {"Dv", "1"}}, 4);
  }
}

BOOST_AUTO_TEST_CASE(one_step_by_hand) {
  // M_0 = (1, 1), k = (2, 0), v = 4: M_0 k = 2, e = 2. Longhorn with delta = 1 adds e k / (1 + 4) = (0.8, 0).
  Sequence s = one_head(1, {1, 0}, {2, 0}, {4});
  s.state = {1, 1};
  check_close(forward(find_variant("longhorn"), s).state, {1.8, 1}, 1e-15);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
