// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(vignette_4_local_constant)

BOOST_AUTO_TEST_CASE(claims_hold_at_points_of_my_own) {
  for (const char *id : {"nadaraya_watson_eq50", "qknorm_eq51", "qknorm_necessity"})
    check_claim_at(id, {{"T", "23"}, {"Dk", "8"}, {"Dv", "2"}});
}

BOOST_AUTO_TEST_CASE(softmax_is_the_gaussian_mean_of_equal_keys) {
  // Keys +2 and -2, values 1 and 0, q = 1: weights exp(+-2) as softmax, exp(-(2-1)^2/2), exp(-(2+1)^2/2) as a Gaussian
  // of bandwidth 2 sqrt(1): the same ratio e^4.
  const Sequence s = one_head(2, {0, 1}, {2, -2}, {1, 0});
  const double expected = 1 / (1 + std::exp(-4.0));
  BOOST_TEST(std::fabs(std::exp(-0.5) / (std::exp(-0.5) + std::exp(-4.5)) - expected) < 1e-15);
  BOOST_TEST(std::fabs(forward(find_variant("softmax"), s).o[1] - expected) < 1e-15);
}

BOOST_AUTO_TEST_CASE(the_constant_has_the_width_of_the_values) {
  refuse_point("eq50_width_typo", {{"Dk", "4"}, {"Dv", "4"}});
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
