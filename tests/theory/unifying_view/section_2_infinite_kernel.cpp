// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(section_2_infinite_kernel)

BOOST_AUTO_TEST_CASE(at_points_of_our_own) {
  for (const char *m : {"5", "25", "64"}) check_claim_at("blog_exp_infinite", {{"m", m}});
}

BOOST_AUTO_TEST_CASE(two_points_on_a_circle_by_hand) {
  // x = +-(2, 0): exp(x.y) = exp(+-4), eigenvalues exp(4) +- exp(-4).
  const std::vector<double> values =
      symmetric_eigenvalues(Dense(2, 2, {std::exp(4.), std::exp(-4.), std::exp(-4.), std::exp(4.)}));
  check_close(values, {std::exp(4.) - std::exp(-4.), std::exp(4.) + std::exp(-4.)}, 1e-13);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
