// SPDX-License-Identifier: Apache-2.0
#include "harness/core/quad.hpp"
#include "tests/testing.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(quadruple_numbers)

/// Identities that hold to 112 bits; float64's functions would miss them by 2^-53.
BOOST_AUTO_TEST_CASE(functions_are_right_to_112_bits) {
  const auto same = [](const char *what, Quad a, Quad b) {
    BOOST_TEST_INFO(what);
    BOOST_TEST(std::fabs(double(a - b)) <= 0x1p-110 * std::fabs(double(b)));
  };
  for (double at : {0.3, 1.7, 2.5}) {
    const Quad x = Quad(at) / 3; // not a float64 number
    same("sqrt", math::sqrt(x) * math::sqrt(x), x);
    same("exp, log", math::exp(math::log(x)), x);
    same("log1p", math::exp(math::log1p(x)), 1 + x);
    same("tanh", math::tanh(x), (math::exp(2 * x) - 1) / (math::exp(2 * x) + 1));
    same("sin, cos", math::sin(x) * math::sin(x) + math::cos(x) * math::cos(x), 1);
    same("sin of twice", math::sin(2 * x), 2 * math::sin(x) * math::cos(x));
    same("pow", math::pow(x, 2.5), x * x * math::sqrt(x));
  }
  BOOST_TEST((double(math::exp(Quad(-INFINITY))) == 0 && double(math::exp(Quad(INFINITY))) == INFINITY));
  const double digits[] = {8427007929497148, 6934122063508260, 9259229760053136}; // erf(1) = 0.84270...
  same("erf", math::erf(Quad(1)), ((Quad(digits[2]) / 1e16 + digits[1]) / 1e16 + digits[0]) / 1e16);
}

BOOST_AUTO_TEST_CASE(roundings_and_choices) {
  for (double x : {-2.5, -1.5, -0.5, 0.5, 1.5, 2.25})
    BOOST_TEST(double(math::round_half_even(Quad(x))) == std::nearbyint(x), x);
  const Quad two = 2, three = 3;
  BOOST_TEST((math::floor(Quad(-0.5)) == -1 && math::fabs(-three) == 3));
  BOOST_TEST((math::fmax(two, three) == 3 && math::fmin(two, three) == 2));
  BOOST_TEST(double(Quad(1) + 0x1p-112 - 1) == 0x1p-112);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
