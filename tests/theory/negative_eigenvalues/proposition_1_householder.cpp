// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"
#include "theory/negative_eigenvalues/householder.hpp"

namespace recollect {
using namespace recollect::theory;
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(proposition_1_householder)

BOOST_AUTO_TEST_CASE(at_points_of_our_own) {
  check_claim_at("householder_norm", {{"n", "3"}, {"factors", "9"}}, 4);
  check_claim_at("permutation_reflections", {{"n", "8"}}, 4);
  check_claim_at("two_factors_stay_positive", {{"angle", "33"}, {"beta", "0.95"}}, 4);
}

BOOST_AUTO_TEST_CASE(a_swap_by_hand) {
  // I - (e1 - e2)(e1 - e2)^T exchanges the first two of three elements.
  const double half = std::sqrt(0.5);
  check_close(product({{{half, -half, 0}, 2}}).data, {0, 1, 0, 1, 0, 0, 0, 0, 1}, 1e-15);
}

BOOST_AUTO_TEST_CASE(three_projections_by_hand) {
  // Projections that remove the directions at 0, 60 and 120 degrees. The result lies along one line. A vector on it is
  // multiplied by the cosines of the angles between the directions kept: 1/2 . 1/2 . -1/2.
  const Dense A = product({{at_angle(0), 1}, {at_angle(pi / 3), 1}, {at_angle(2 * pi / 3), 1}});
  check_close({trace(A), A(0, 0) * A(1, 1) - A(0, 1) * A(1, 0)}, {-0.125, 0}, 1e-15);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
