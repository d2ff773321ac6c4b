// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"
#include "theory/support/dual.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(vignette_3_nonlinear_memory)

BOOST_AUTO_TEST_CASE(at_points_of_our_own) {
  check_claim_at("ttt_extension", {{"T", "5"}, {"Dk", "3"}, {"Dv", "4"}}, 4);
  check_claim_at("momentum_extension", {{"T", "6"}, {"Dk", "3"}, {"Dv", "2"}, {"eta", "0.7"}, {"theta", "0.2"}}, 4);
  refuse_point("ttt_extension", {{"Dv", "1"}});
}

BOOST_AUTO_TEST_CASE(a_derivative_by_hand) {
  // d/dx [x exp(x) / sqrt(x)] at 4 is exp(4) (2 + 1/4), and erf has the slope 2/sqrt(pi) at 0.
  using theory::Dual;
  const Dual x(4, 1), y = x * exp(x) / sqrt(x);
  BOOST_TEST(y.slope == std::exp(4.0) * 2.25, boost::test_tools::tolerance(1e-14));
  BOOST_TEST(erf(Dual(0, 1)).slope == 2 / std::sqrt(M_PI));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
