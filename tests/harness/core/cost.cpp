// SPDX-License-Identifier: Apache-2.0
#include "harness/core/cost.hpp"
#include "tests/testing.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(cost_polynomials)

using cost::Dk;
using cost::Dv;
using cost::t;

double at(const Polynomial &p, const Params &params = {}) { return p.at({7, 7, 4, 3, 5}, params); } // T = 4

BOOST_AUTO_TEST_CASE(sizes_are_put_in) {
  BOOST_TEST(at(6 * Dv * Dk + 2) == 92);
  BOOST_TEST(at((Dv + 1) * (Dk + 1)) == 24);
  BOOST_TEST(at(t) == 2.5);     // (1 + 2 + 3 + 4) / 4
  BOOST_TEST(at(t * t) == 7.5); // (1 + 4 + 9 + 16) / 4
  BOOST_TEST(at(2 * Dk * cost::T / cost::parameter("block"), Params().set("block", 8)) == 3);
  BOOST_CHECK_THROW(at(t * t * t), std::logic_error);
  BOOST_CHECK_THROW(Dk / (Dk + 1), std::logic_error);
}

BOOST_AUTO_TEST_CASE(a_parameter_left_automatic_has_its_formula) {
  const Polynomial width = Polynomial::symbol("width", 4 * Dk);
  BOOST_TEST(at(2 * width * Dv, Params().set("width", no_limit - no_limit)) == 2 * 12 * 5);
  BOOST_TEST(at(2 * width * Dv, Params().set("width", 1)) == 10);
}

BOOST_AUTO_TEST_CASE(terms_are_collected_and_the_highest_comes_first) {
  BOOST_TEST((2 * Dk + 4 * Dk * Dv + 3 * Dk).str() == "4 Dk Dv + 5 Dk");
  BOOST_TEST((Dk * Dk * cost::T / cost::parameter("block")).str() == "Dk^2 T / block");
  BOOST_TEST((Dk + -1 * Dk).str() == "0");
  BOOST_TEST((Dk * Dk + -2 * Dk + -1).str() == "Dk^2 - 2 Dk - 1");
  BOOST_TEST(Cost(6 * Dv * Dk, 2 * Dk).str() == "$6 Dk Dv$ flops, $2 Dk$ calls of exp, sqrt or the like");
  BOOST_TEST(cost::at_least(Dk).str() == "at least $Dk$ flops");
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
