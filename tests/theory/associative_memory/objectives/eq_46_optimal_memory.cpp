// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"
#include "theory/associative_memory/objectives/optimal_memory.hpp"

namespace recollect {
using namespace recollect::theory;
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(eq_46_optimal_memory)

BOOST_AUTO_TEST_CASE(eq_46_holds_where_keys_are_as_wide_as_inputs) {
  check_claim_at("sstar_eq46", {{"D", "4"}, {"m", "4"}, {"dv", "3"}});
}

BOOST_AUTO_TEST_CASE(points_outside_the_statements_are_refused) {
  refuse_point("sstar_eq46", {{"D", "3"}, {"m", "4"}});
  refuse_point("sstar_eq48", {{"D", "4"}, {"m", "4"}});
  refuse_point("sstar_depends_on_data", {{"D", "4"}, {"m", "4"}});
}

BOOST_AUTO_TEST_CASE(optima_by_hand) {
  // k = x_1, v = x_2, E[x x^T] = [[2,1],[1,3]]: S* = E[x_1 x_2] / E[x_1^2] = 1/2.
  const Layer layer{Dense(1, 2, {1, 0}), Dense(1, 2, {0, 1}), Dense(2, 2, {2, 1, 1, 3})};
  BOOST_TEST(std::fabs(optimum_eq46(layer)(0, 0) - 0.5) < 1e-15);
  // Eq 48: Wv E = (1,3), Wk^+ Wk = diag(1,0), E^-1 = [[3,-1],[-1,2]]/5: (1,0) E^-1 (1,0)^T = 3/5.
  BOOST_TEST(std::fabs(optimum_eq48(layer)(0, 0) - 0.6) < 1e-15);
  // Two data points, k = 1, 2 and v = 1, 1: (1 + 2) / (1 + 4).
  BOOST_TEST(std::fabs(least_squares(Dense(2, 1, {1, 2}), Dense(2, 1, {1, 1}))(0, 0) - 0.6) < 1e-15);
}

BOOST_AUTO_TEST_CASE(the_counter_example_by_hand) {
  // E[x x^T] = [[1,1],[1,2]]/2, k = v = x_1: S* = 1; Eq 48 gives E_11 (E^-1)_11 = 1/2 * 4.
  const Finding finding = examine(find_claim("sstar_eq48"), {});
  BOOST_TEST((finding.points[0].role == Role::statement));
  BOOST_TEST(std::fabs(finding.points[0].measured - 1) < 1e-14);
  BOOST_TEST(std::fabs(finding.points[0].predicted - 2) < 1e-14);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
