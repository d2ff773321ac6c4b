// SPDX-License-Identifier: Apache-2.0
// Each operation's derivative compared with differences, since layers use only some operations, at some arguments.
#include "harness/core/taped.hpp"
#include "tests/testing.hpp"
#include <functional>
#include <map>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(taped_numbers)

using Function = std::function<Taped(Taped, Taped)>;

/// d f / dx and d f / dy by the tape.
std::pair<double, double> slopes_of(const Function &f, double x, double y) {
  Tape tape(100);
  Tape::current() = &tape;
  const Taped a = Taped::variable(x), b = Taped::variable(y), result = f(a, b);
  std::vector<double> adjoint(tape.size(), 0.0);
  if (result.index != Tape::constant) adjoint[size_t(result.index)] = 1;
  tape.go_back(adjoint);
  Tape::current() = nullptr;
  return {adjoint[size_t(a.index)], adjoint[size_t(b.index)]};
}

const std::map<std::string, Function> functions{{"x + y", [](Taped x, Taped y) { return x + y; }},
                                                {"x - y", [](Taped x, Taped y) { return x - y; }},
                                                {"x y", [](Taped x, Taped y) { return x * y; }},
                                                {"x / y", [](Taped x, Taped y) { return x / y; }},
                                                {"-x", [](Taped x, Taped) { return -x; }},
                                                {"x += y, -= x y, *= x, /= y",
                                                 [](Taped x, Taped y) {
                                                   Taped z = x;
                                                   z += y, z -= x * y, z *= x, z /= y;
                                                   return z;
                                                 }},
                                                {"{} + x y",
                                                 [](Taped x, Taped y) {
                                                   Taped sum{};
                                                   return sum += x * y;
                                                 }},
                                                {"3 - x", [](Taped x, Taped) { return 3.0 - x; }},
                                                {"2 / y", [](Taped, Taped y) { return 2.0 / y; }},
                                                {"cos", [](Taped x, Taped) { return math::cos(x); }},
                                                {"sin", [](Taped x, Taped) { return math::sin(x); }},
                                                {"exp", [](Taped x, Taped) { return math::exp(x); }},
                                                {"log", [](Taped x, Taped) { return math::log(x); }},
                                                {"log1p", [](Taped x, Taped) { return math::log1p(x); }},
                                                {"erf", [](Taped x, Taped) { return math::erf(x); }},
                                                {"tanh", [](Taped x, Taped) { return math::tanh(x); }},
                                                {"sqrt", [](Taped x, Taped) { return math::sqrt(x); }},
                                                {"x^y", [](Taped x, Taped y) { return math::pow(x, y); }},
                                                {"|x - 1|", [](Taped x, Taped) { return math::fabs(x - 1); }},
                                                {"larger", [](Taped x, Taped y) { return math::fmax(x * x, y * y); }},
                                                {"smaller", [](Taped x, Taped y) { return math::fmin(x * x, y * y); }},
                                                {"floor", [](Taped x, Taped y) { return math::floor(x) * y; }}};

BOOST_AUTO_TEST_CASE(slopes_are_those_of_differences) {
  const double h = 1e-5;
  for (const auto &[name, f] : functions)
    for (const auto &[x, y] : {std::pair{0.3, 1.7}, {1.9, 0.6}, {2.7, 2.2}}) {
      const auto value = [&, g = f](double at_x, double at_y) { return g(at_x, at_y).value; };
      const auto [by_x, by_y] = slopes_of(f, x, y);
      BOOST_TEST_INFO(name << " at " << x << ", " << y);
      // h^2 / 6 of third derivatives below 1000, and eps / h of values below 30
      BOOST_TEST(std::fabs(by_x - (value(x + h, y) - value(x - h, y)) / (2 * h)) < 2e-8);
      BOOST_TEST(std::fabs(by_y - (value(x, y + h) - value(x, y - h)) / (2 * h)) < 2e-8);
    }
}

BOOST_AUTO_TEST_CASE(the_slope_of_tanh_keeps_its_digits_where_tanh_is_1) { // 1 / cosh(x)^2 = 4 exp(-2 x) at large x
  for (double x : {-40.0, 40.0}) {
    const double slope = slopes_of([](Taped a, Taped) { return math::tanh(a); }, x, 0).first;
    BOOST_TEST(std::fabs(slope / (4 * std::exp(-80.0)) - 1) < 1e-14);
  }
}

BOOST_AUTO_TEST_CASE(roundings_are_passed_straight) { // round(x) y: derivatives y (instead of 0) and round(x)
  const auto [by_x, by_y] = slopes_of([](Taped x, Taped y) { return math::round_half_even(x) * y; }, 2.7, 0.6);
  BOOST_TEST((by_x == 0.6 && by_y == 3));
}

BOOST_AUTO_TEST_CASE(constants_are_not_recorded) {
  Tape tape(10);
  Tape::current() = &tape;
  const Taped constant = math::exp(Taped(2) * 3 + 1);
  BOOST_TEST(tape.size() == 1u); // the entry for constants
  BOOST_TEST((constant.index == Tape::constant && constant.value == std::exp(7.0)));
  const Taped x = Taped::variable(2);
  BOOST_TEST((constant * x).index == 2);
  BOOST_TEST((x * constant).index == 3);
  Tape::current() = nullptr;
}

BOOST_AUTO_TEST_CASE(no_weight_goes_along_an_infinite_slope_and_a_full_tape_says_so) {
  Tape tape(2);
  Tape::current() = &tape;
  const Taped x = Taped::variable(0), root = math::sqrt(x);
  std::vector<double> adjoint(tape.size(), 0.0);
  tape.go_back(adjoint);
  BOOST_TEST((adjoint == std::vector<double>(3, 0.0))); // and not 0 times infinity
  BOOST_TEST(!tape.full());
  (void)(root + x);
  BOOST_TEST(tape.full());
  Tape::current() = nullptr;
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
