// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(vignette_3_stochastic_descent)

BOOST_AUTO_TEST_CASE(at_points_of_our_own) {
  check_claim_at("deltanet_sgd", {{"T", "6"}, {"Dk", "4"}, {"Dv", "2"}}, 4);
  const Finding recency = check_claim_at("sgd_recency", {{"D", "5"}, {"beta", "0.7"}, {"t", "6"}}, 4);
  BOOST_TEST(recency.points.front().predicted == std::pow(1 - 0.91 / 5, 6), boost::test_tools::tolerance(1e-12));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
