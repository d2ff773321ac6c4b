// SPDX-License-Identifier: Apache-2.0
#include "harness/check/precision.hpp"
#include "harness/core/error.hpp"
#include "tests/testing.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(precisions)

BOOST_AUTO_TEST_CASE(half_a_spacing_at_1_is_the_unit_roundoff) {
  const std::pair<const char *, int> units[] = {{"f64", -53}, {"f32", -24}, {"tf32", -11}, {"f16", -11}, {"bf16", -8}};
  for (const auto &[name, exponent] : units)
    BOOST_TEST(half_spacing(1, parse_precision(name)) == std::ldexp(1, exponent), name);
  BOOST_CHECK_THROW(parse_precision("fp8"), Error);
}

BOOST_AUTO_TEST_CASE(spacings_double_at_powers_of_two_and_stop_at_subnormal_numbers) {
  BOOST_TEST(half_spacing(2, Precision::bf16) == 2 * half_spacing(1.99, Precision::bf16));
  BOOST_TEST(half_spacing(-3, Precision::bf16) == half_spacing(2, Precision::bf16));
  BOOST_TEST(half_spacing(0x1p-20, Precision::f16) == 0x1p-25);
  BOOST_TEST(half_spacing(0, Precision::f16) == 0x1p-25);
}

BOOST_AUTO_TEST_CASE(rounding_is_to_nearest_and_ties_go_to_even) {
  for (const auto &[x, nearest] :
       {std::pair{1 + 0x1p-9, 1.0}, {1 + 0x1p-8, 1.0}, {1 + 0x3p-8, 1 + 0x1p-6}, {-3.0, -3.0}})
    BOOST_TEST(rounded(x, Precision::bf16) == nearest);
  BOOST_TEST(rounded(0x1.8p-24, Precision::f16) == 0x1p-23); // a tie between subnormal numbers
  BOOST_TEST(rounded(65519, Precision::f16) == 65504);
  BOOST_TEST(rounded(65520, Precision::f16) == HUGE_VAL);
  BOOST_TEST(rounded(-1e39, Precision::f32) == -HUGE_VAL);
  for (float x : {0.1f, 3e-41f, -7e37f}) BOOST_TEST(rounded(double(x) * (1 + 1e-9), Precision::f32) == double(x));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
