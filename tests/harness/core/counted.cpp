// SPDX-License-Identifier: Apache-2.0
#include "harness/core/counted.hpp"
#include "tests/testing.hpp"
#include <array>
#include <functional>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(counted_numbers)

/// Counted flops, products and function calls of the function.
std::array<long, 3> counts(const std::function<Counted(Counted, Counted)> &f, double expected) {
  const std::array<long, 3> before{Counted::flops, Counted::products, Counted::functions};
  BOOST_TEST(f(2.5, 0.5).value == expected);
  return {Counted::flops - before[0], Counted::products - before[1], Counted::functions - before[2]};
}
using Counts = std::array<long, 3>;

BOOST_AUTO_TEST_CASE(sums_are_flops_and_products_both) {
  BOOST_TEST((counts([](Counted x, Counted y) { return x + y; }, 3) == Counts{1, 0, 0}));
  BOOST_TEST((counts([](Counted x, Counted y) { return x - y; }, 2) == Counts{1, 0, 0}));
  BOOST_TEST((counts([](Counted x, Counted y) { return x * y; }, 1.25) == Counts{1, 1, 0}));
  BOOST_TEST((counts([](Counted x, Counted y) { return x / y; }, 5) == Counts{1, 1, 0}));
  const auto in_place = [](Counted x, Counted y) {
    x += y, x -= 1, x *= y, x /= 4;
    return x;
  };
  BOOST_TEST((counts(in_place, 0.25) == Counts{4, 2, 0}));
}

BOOST_AUTO_TEST_CASE(functions_count_once_and_signs_and_comparisons_nothing) {
  using F = Counted (*)(Counted);
  const std::pair<F, double (*)(double)> functions[] = {
      {math::cos, std::cos},     {math::sin, std::sin}, {math::exp, std::exp},   {math::log, std::log},
      {math::log1p, std::log1p}, {math::erf, std::erf}, {math::tanh, std::tanh}, {math::sqrt, std::sqrt}};
  for (const auto &[f, plain] : functions)
    BOOST_TEST((counts([f = f](Counted x, Counted) { return f(x); }, plain(2.5)) == Counts{0, 0, 1}));
  BOOST_TEST((counts([](Counted x, Counted y) { return math::pow(x, y); }, std::pow(2.5, 0.5)) == Counts{0, 0, 1}));
  BOOST_TEST((counts([](Counted x, Counted y) { return math::fmax(x, y); }, 2.5) == Counts{0, 0, 0}));
  BOOST_TEST((counts([](Counted x, Counted y) { return math::fmin(x, y); }, 0.5) == Counts{0, 0, 0}));
  BOOST_TEST((counts([](Counted x, Counted) { return math::fabs(-x); }, 2.5) == Counts{0, 0, 0}));
  BOOST_TEST((counts([](Counted x, Counted) { return math::floor(x); }, 2) == Counts{0, 0, 0}));
  BOOST_TEST((counts([](Counted x, Counted) { return math::round_half_even(x); }, 2) == Counts{0, 0, 0}));
  BOOST_TEST((counts([](Counted x, Counted y) { return x > y && y < x && x >= y && y <= x && x != y ? x : y; }, 2.5) ==
              Counts{0, 0, 0}));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
