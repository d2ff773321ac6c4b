// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"
#include "theory/associative_memory/objectives/quadratic.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(eq_36_general_objective)

BOOST_AUTO_TEST_CASE(gradients_by_hand) {
  // L = 3 x^2 + x y - y: dL = (6 x + y, x - 1).
  const auto L = [](const Dense &S) { return 3 * S(0, 0) * S(0, 0) + S(0, 0) * S(0, 1) - S(0, 1); };
  check_close(theory::gradient(Dense(1, 2, {2, 5}), L).data, {17, 1}, 1e-14);
  BOOST_TEST(theory::weighted_square(Dense(2, 2, {1, 2, 3, 4}), {10, 1}) == 75);
}

BOOST_AUTO_TEST_CASE(the_counter_example_by_hand) {
  // J = [[0,1],[-1,0]]: J S J turns [[a,b],[c,d]] into [[-d,c],[b,-a]], which is self-adjoint, and J is not symmetric.
  const Finding finding = examine(find_claim("eq63_symmetric_necessary"), {});
  BOOST_TEST((finding.points[0].role == Role::statement));
  BOOST_TEST(finding.points[0].measured == -finding.points[0].predicted);
  BOOST_TEST(std::fabs(finding.points[0].measured) == 1);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
