// SPDX-License-Identifier: Apache-2.0
#include "theory/associative_memory/optimum.hpp"
#include "tests/theory/examine.hpp"
#include "theory/associative_memory/delta_paths.hpp"

namespace recollect {
using namespace recollect::theory;
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(optimum)

BOOST_AUTO_TEST_CASE(claims_come_out_as_stated) { check_claims({"optimum_*", "sstar_*", "multihead_deltanet"}); }

BOOST_AUTO_TEST_CASE(optima_by_hand) {
  // k = x_1, v = x_2, E[x x^T] = [[2,1],[1,3]]: S* = E[x_1 x_2] / E[x_1^2] = 1/2.
  const Layer layer{Dense(1, 2, {1, 0}), Dense(1, 2, {0, 1}), Dense(2, 2, {2, 1, 1, 3})};
  BOOST_TEST(std::fabs(optimum_eq46(layer)(0, 0) - 0.5) < 1e-15);
  // Eq 48: Wv E = (1,3), Wk^+ Wk = diag(1,0), E^-1 = [[3,-1],[-1,2]]/5: (1,0) E^-1 (1,0)^T = 3/5.
  BOOST_TEST(std::fabs(optimum_eq48(layer)(0, 0) - 0.6) < 1e-15);
  // Two data points, k = 1, 2 and v = 1, 1: (1 + 2) / (1 + 4).
  BOOST_TEST(std::fabs(least_squares(Dense(2, 1, {1, 2}), Dense(2, 1, {1, 1}))(0, 0) - 0.6) < 1e-15);
}

BOOST_AUTO_TEST_CASE(laws_by_hand) {
  // d = 1 Gaussian, beta = 1/2: E (1 - k^2/2)^2 = 1 - 1 + 3/4; unit keys on the line: (1 - 1/2)^2.
  BOOST_TEST(DeltaPaths({KeyLaw::gaussian, 1, 1, 0.5, 0}).factor() == 0.75);
  BOOST_TEST(DeltaPaths({KeyLaw::unit, 1, 1, 0.5, 0}).factor() == 0.25);
  // Floor of unit keys: beta sigma^2 dv d / (2 - beta).
  BOOST_TEST(std::fabs(DeltaPaths({KeyLaw::unit, 8, 4, 0.5, 2}).floor() - 0.5 * 4 * 4 * 8 / 1.5) < 1e-13);
  BOOST_TEST(std::fabs(DeltaPaths({KeyLaw::gaussian, 8, 4, 0.05, 2}).floor() - 0.05 * 4 * 4 * 8 / 1.5) < 1e-13);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
