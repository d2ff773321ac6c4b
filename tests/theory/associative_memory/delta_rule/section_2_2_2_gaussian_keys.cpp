// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"
#include "theory/support/quadrature.hpp"

namespace recollect {
using namespace recollect::theory;
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(section_2_2_2_gaussian_keys)

BOOST_AUTO_TEST_CASE(the_exponent_in_the_plane_by_hand) {
  // The mean of log(cos^2 + x^2 sin^2)/2 over the circle is log((1+|x|)/2), x = s - 1 with s exponential of mean 2:
  // E log((1 + |s-1|)/2) = int_0^1 log(1 - s/2) e^{-s/2}/2 ds + int_1^inf log(s/2) e^{-s/2}/2 ds.
  const auto below = integrate([](double s) { return std::log(1 - s / 2) * std::exp(-s / 2) / 2; }, 0, 1);
  const auto above = integrate([](double s) { return std::log(s / 2) * std::exp(-s / 2) / 2; }, 1, 80);
  const Finding finding = check_claim_at("deltanet_converges_gaussian", {{"d", "2"}});
  const Point &growth = finding.points[6];
  BOOST_TEST((growth.role == Role::obligation));
  BOOST_TEST(std::fabs(growth.predicted - (below.value + above.value)) < 1e-9);
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
