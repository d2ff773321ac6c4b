// SPDX-License-Identifier: Apache-2.0
#include "tests/testing.hpp"
#include "theory/support/integral_points.hpp"

namespace recollect {
using namespace recollect::theory;
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(quadrature)

/// The integral is within its own error bound, and that bound is at most `most` of the exact value.
void check_integral(const Integral &found, double exact, double most) {
  BOOST_TEST(std::fabs(found.value - exact) <= found.error + 1e-14 * std::fabs(exact));
  BOOST_TEST(found.error <= most * std::fabs(exact));
}

BOOST_AUTO_TEST_CASE(rules_give_the_moments_of_their_densities) {
  check_integral(normal_rule(0).integral([](double) { return 1.0; }), 1, 1e-8);
  check_integral(normal_rule(0).integral([](double x) { return x * x * x * x; }), 3, 1e-5);
  check_integral(normal_rule(0).integral([](double x) { return x > 0 ? x : 0; }), 1 / std::sqrt(2 * M_PI), 1e-8);
  check_integral(normal_rule(2).integral([](double x) { return std::exp(2 * x); }), std::exp(2.0), 1e-8);
  // |x|^2 of N(0, I_d) has mean d, and its inverse 1 / (d - 2): 1 at d = 3, 1/14 at d = 16.
  check_integral(length_rule(16, -1, 0).integral([](double x) { return x * x; }), 16, 1e-6);
  check_integral(length_rule(16, 1, 0).integral([](double x) { return 1 / (x * x); }), 1 / 14.0, 1e-6);
  check_integral(length_rule(3, 1, 0).integral([](double x) { return 1 / (x * x); }), 1, 1e-6);
  // E exp(-a |x|^2) = (1 + 2a)^(-d/2).
  check_integral(length_rule(10, 0, 0.375).integral([](double x) { return std::exp(-0.375 * x * x); }),
                 std::pow(1.75, -5), 1e-6);
}

BOOST_AUTO_TEST_CASE(a_rule_too_coarse_for_its_integrand_says_so) {
  const Integral found = panel(0, 1).integral([](double x) { return std::sqrt(x); });
  BOOST_TEST(std::fabs(found.value - 2.0 / 3) < found.error);
  BOOST_TEST(found.error > 1e-6);
}

BOOST_AUTO_TEST_CASE(nested_errors_are_inherited) {
  Rule rule = panel(0, 2);
  const std::vector<Integral> values(rule.nodes.size(), {3, 0.5});
  const Integral found = rule.sum(values);
  BOOST_TEST(std::fabs(found.value - 6) < 1e-13);
  BOOST_TEST(std::fabs(found.error - 1) < 1e-12);
}

BOOST_AUTO_TEST_CASE(integrands_singular_at_an_end) {
  check_integral(integrate([](double x) { return 1 / std::sqrt(x); }, 0, 1), 2, 1e-7);
  check_integral(integrate([](double x) { return std::log(x); }, 0, 1), -1, 1e-7);
}

BOOST_AUTO_TEST_CASE(polynomials_extrapolate_exactly) {
  // y(h) = 1 + 2h + 3h^2.
  const Limit limit = limit_at_zero({1, 0.5, 0.25}, {1 + 2 + 3, 1 + 1 + 0.75, 1 + 0.5 + 3.0 / 16});
  BOOST_TEST(std::fabs(limit.value - 1) < 1e-14);
  BOOST_TEST(limit.error > 0);
  const Integral found = limit_of({1, 0.5}, {{3, 0.1}, {2, 0}}); // weights -1 and 2
  BOOST_TEST(std::fabs(found.value - 1) < 1e-14);
  BOOST_TEST(std::fabs(found.error - (1 + 0.3)) < 1e-14); // the last change, and 0.1 (1 + 2)
}

BOOST_AUTO_TEST_CASE(errors_of_quotients_and_logarithms) {
  const Integral quotient = Integral{6, 0.3} / Integral{2, 0.2};
  BOOST_TEST(std::fabs(quotient.value - 3) < 1e-15);
  BOOST_TEST(std::fabs(quotient.error - 0.45) < 1e-15); // (0.3 + 3 0.2) / 2
  const Integral product = Integral{6, 0.3} * Integral{2, 0.2};
  BOOST_TEST(std::fabs(product.error - 1.8) < 1e-15); // 6 0.2 + 2 0.3
  BOOST_TEST(std::fabs(log(Integral{4, 0.2}).error - 0.05) < 1e-15);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
