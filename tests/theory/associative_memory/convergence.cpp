// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"
#include "theory/support/quadrature.hpp"

namespace recollect {
using namespace recollect::theory;
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(convergence)

BOOST_AUTO_TEST_CASE(claims_come_out_as_stated) {
  check_claims({"deltanet_converges_*", "deltanet_noise_floor", "sstar_normalised_keys",
                "bigram_degeneration"});
}

BOOST_AUTO_TEST_CASE(integrals_with_singular_ends) {
  const Integral inverse_root = integrate([](double x) { return 1 / std::sqrt(x); }, 0, 1);
  BOOST_TEST(std::fabs(inverse_root.value - 2) < 1e-9);
  const Integral logarithm = integrate([](double x) { return std::log(x); }, 0, 1);
  BOOST_TEST(std::fabs(logarithm.value + 1) < 1e-12);
  BOOST_TEST(logarithm.error < 1e-9);
  BOOST_TEST(std::fabs(integrate([](double x) { return std::cos(x); }, 0, M_PI / 2).value - 1) < 1e-13);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
