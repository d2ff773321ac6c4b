// SPDX-License-Identifier: Apache-2.0
#include "harness/core/float16.hpp"
#include "harness/check/precision.hpp"
#include "tests/testing.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(numbers_of_16_bits)

BOOST_AUTO_TEST_CASE(bits_are_read_as_the_formats_have_them) {
  BOOST_TEST(float(Float16::from_bits(0x3c00)) == 1);
  BOOST_TEST(float(Float16::from_bits(0xc000)) == -2);
  BOOST_TEST(float(Float16::from_bits(0x7bff)) == 65504);
  BOOST_TEST(float(Float16::from_bits(0x0001)) == std::ldexp(1.0f, -24));
  BOOST_TEST(std::isinf(float(Float16::from_bits(0x7c00))));
  BOOST_TEST(std::isnan(float(Float16::from_bits(0x7c01))));
  BOOST_TEST(float(BFloat16::from_bits(0x3f80)) == 1);
  BOOST_TEST(float(BFloat16::from_bits(0xc049)) == -3.140625f);
  BOOST_TEST(std::signbit(float(Float16::from_bits(0x8000))));
}

BOOST_AUTO_TEST_CASE(bfloat16_rounds_to_nearest_ties_to_even) {
  // At 1 numbers are 2^-7 apart: 1 + 2^-8 lies half way between 1 (even) and 1 + 2^-7 (odd).
  const double half = std::ldexp(1.0, -8), step = 2 * half;
  BOOST_TEST(float(BFloat16(1 + half)) == 1);
  BOOST_TEST(float(BFloat16(1 + step + half)) == 1 + 2 * step);
  BOOST_TEST(float(BFloat16(float(1 + half) + std::ldexp(1.0f, -20))) == 1 + step);
  BOOST_TEST(float(BFloat16(-(1 + step + half))) == -(1 + 2 * step));
  BOOST_TEST(float(BFloat16(0.1)) == 0.10009765625f); // 205 * 2^-11
  BOOST_TEST(float(BFloat16(0.999f)) == 1);           // a decay that bfloat16 cannot represent
}

BOOST_AUTO_TEST_CASE(float16_rounds_to_nearest_ties_to_even) {
  const double half = std::ldexp(1.0, -11), step = 2 * half;
  BOOST_TEST(float(Float16(1 + half)) == 1);
  BOOST_TEST(float(Float16(1 + step + half)) == 1 + 2 * step);
  BOOST_TEST(float(Float16(0.1)) == 0.0999755859375f); // 1638 * 2^-14
  BOOST_TEST(float(Float16(65519.0)) == 65504);
  BOOST_TEST(std::isinf(float(Float16(65520.0)))); // half way to 2^16, which is even
  const float least = std::ldexp(1.0f, -24);       // subnormal numbers are 2^-24 apart
  BOOST_TEST(float(Float16(0.5f * least)) == 0);
  BOOST_TEST(float(Float16(1.5f * least)) == 2 * least);
  BOOST_TEST(float(Float16(-0.75f * least)) == -least);
  BOOST_TEST(float(Float16(std::ldexp(1.0f, -14) - 0.25f * least)) ==
             std::ldexp(1.0f, -14)); // rounds up to the smallest normal number
}

/// 1 + 2^-8 + 2^-40: float32 would round it to 1 + 2^-8, a tie, which then rounds down; the number itself rounds up.
BOOST_AUTO_TEST_CASE(float64_is_rounded_once) {
  const double above = 1 + std::ldexp(1.0, -8) + std::ldexp(1.0, -40), below = above - std::ldexp(1.0, -39);
  BOOST_TEST(float(BFloat16(float(above))) == 1);
  BOOST_TEST(float(BFloat16(above)) == 1 + std::ldexp(1.0f, -7));
  BOOST_TEST(float(BFloat16(below)) == 1);
  BOOST_TEST(float(Float16(-(1 + std::ldexp(1.0, -11) + std::ldexp(1.0, -40)))) == -(1 + std::ldexp(1.0f, -10)));
  BOOST_TEST(float(Float16(1e-300)) == 0);
  BOOST_TEST(std::isinf(float(BFloat16(1e300))));
}

BOOST_AUTO_TEST_CASE(numbers_that_are_none_stay_so) {
  BOOST_TEST((std::isnan(float(BFloat16(NAN))) && std::isnan(float(Float16(NAN)))));
  BOOST_TEST((float(BFloat16(-INFINITY)) == -INFINITY && float(Float16(INFINITY)) == INFINITY));
  const float payload = float_bits::number(0x7f800001u); // a NaN whose upper 16 bits are those of infinity
  BOOST_TEST((std::isnan(float(BFloat16(payload))) && std::isnan(float(Float16(payload)))));
}

/// Every number of either type converts back exactly, and numbers in between round as in `check`.
BOOST_AUTO_TEST_CASE(every_number_rounds_as_check_has_it) {
  int wrong = 0;
  for (unsigned pattern = 0; pattern < 1u << 16; ++pattern) {
    const BFloat16 b = BFloat16::from_bits(std::uint16_t(pattern));
    const Float16 h = Float16::from_bits(std::uint16_t(pattern));
    const float wide_b = b, wide_h = h;
    wrong += !std::isnan(wide_b) && BFloat16(wide_b).bits != b.bits;
    wrong += !std::isnan(wide_h) && Float16(wide_h).bits != h.bits;
    for (double part : {1.0 / 3, 0.5, 2.0 / 3}) {
      const double x = wide_b * (1 + part / 128), y = wide_h + part * std::ldexp(1.0, -24) * (1 + std::fabs(wide_h));
      if (std::isfinite(x)) wrong += double(BFloat16(x)) != rounded(x, Precision::bf16);
      if (std::isfinite(y)) wrong += double(Float16(y)) != rounded(y, Precision::f16);
    }
  }
  BOOST_TEST(wrong == 0);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
