// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"
#include "theory/variational/associations.hpp"

namespace recollect {
using namespace recollect::theory;
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(eq_6_recursion)

BOOST_AUTO_TEST_CASE(claims_hold_at_points_of_my_own) {
  for (const char *id : {"rls_eq6_post_update", "rls_eq6_solves_eq5"})
    check_claim_at(id, {{"n", "9"}, {"d", "5"}, {"lambda0", "0.3"}});
}

BOOST_AUTO_TEST_CASE(one_pair_by_hand) {
  // k = e1, v = 3, ridge 1/2: S = 3 / (1 + 1/2) = 2 along k.
  const Pairs x{Dense(1, 2, {1, 0}), Dense(1, 1, {3})};
  check_close(least_squares_state(x, 0.5).data, {2, 0}, 1e-15);
  check_close(minimiser(x, 0.5 * Dense::identity(2)).data, {2, 0}, 1e-15);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
