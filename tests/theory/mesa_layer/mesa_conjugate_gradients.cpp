// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"
#include "theory/mesa_layer/iterations.hpp"

namespace recollect {
using namespace recollect::theory;
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(mesa_conjugate_gradients)

BOOST_AUTO_TEST_CASE(at_points_of_our_own) {
  check_claim_at("mesa_conjugate_gradients_rate", {{"T", "40"}, {"d", "12"}, {"ridge", "0.3"}}, 4);
}

BOOST_AUTO_TEST_CASE(two_steps_by_hand) {
  // A = diag(1, 3), b = (1, 1): r = b, step 2 / 4, x = (1/2, 1/2), r = (1/2, -1/2), turn 1/4, p = (3/4, -1/4); step
  // (1/2) / (9/16 + 3/16) = 2/3, x = (1, 1/3), the solution.
  const Dense A(2, 2, {1, 0, 0, 3}), b(2, 1, {1, 1});
  check_close(conjugate_gradient_steps(A, b, 1).data, {0.5, 0.5}, 1e-15);
  check_close(conjugate_gradient_steps(A, b, 2).data, {1, 1.0 / 3}, 1e-15);
  // Energy of the solution: 1 + 1/3; of the error (1/2, -1/6): 1/4 + 3/36 = 1/3: half, squared a quarter.
  check_close({energy_error(A, Dense(2, 1, {0.5, 0.5}), Dense(2, 1, {1, 1.0 / 3}))}, {0.5}, 1e-15);
  check_close({chebyshev_bound(9, 2)}, {0.5}, 1e-15); // 2 (2/4)^2
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
