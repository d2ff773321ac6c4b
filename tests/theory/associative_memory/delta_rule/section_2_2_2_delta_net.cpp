// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"
#include "theory/associative_memory/delta_rule/delta_paths.hpp"

namespace recollect {
using namespace recollect::theory;
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(section_2_2_2_delta_net)

BOOST_AUTO_TEST_CASE(points_outside_the_statements_are_refused) {
  refuse_point("deltanet_converges_unit", {{"T", "30"}, {"d", "3"}});
}

BOOST_AUTO_TEST_CASE(laws_by_hand) {
  // d = 1 Gaussian, beta = 1/2: E (1 - k^2/2)^2 = 1 - 1 + 3/4; unit keys on the line: (1 - 1/2)^2.
  BOOST_TEST(DeltaPaths({KeyLaw::gaussian, 1, 1, 0.5, 0}).factor() == 0.75);
  BOOST_TEST(DeltaPaths({KeyLaw::unit, 1, 1, 0.5, 0}).factor() == 0.25);
  // Floor of unit keys: beta sigma^2 dv d / (2 - beta).
  BOOST_TEST(std::fabs(DeltaPaths({KeyLaw::unit, 8, 4, 0.5, 2}).floor() - 0.5 * 4 * 4 * 8 / 1.5) < 1e-13);
  BOOST_TEST(std::fabs(DeltaPaths({KeyLaw::gaussian, 8, 4, 0.05, 2}).floor() - 0.05 * 4 * 4 * 8 / 1.5) < 1e-13);
  // Two steps from 3: f = 1/4, inflow 1/4 of |e|^2 = 1: (3/4 + 1/4)/4 + 1/4.
  BOOST_TEST(DeltaPaths({KeyLaw::unit, 1, 1, 0.5, 1}).square_after(2, 3) == 0.5);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
