// SPDX-License-Identifier: Apache-2.0
// 16-bit numbers, for storage only: sums are float32. Usable on the host and in GPU kernels. Conversions from wider
// types round to nearest, ties to even; numbers that are too large become infinity. Conversions to float are exact.
#pragma once
#include <cstdint>
#include <cstring>

#if defined(__CUDACC__) || defined(__HIPCC__)
#define RECOLLECT_ON_BOTH __host__ __device__
#else
#define RECOLLECT_ON_BOTH
#endif

namespace recollect {
namespace float_bits {

RECOLLECT_ON_BOTH inline std::uint32_t of(float x) {
  std::uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}
RECOLLECT_ON_BOTH inline float number(std::uint32_t bits) {
  float x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

/// Rounds to odd: if x is not a float, returns the one of its two neighbouring floats whose last bit is odd. A 16-bit
/// type then rounds the result as it would round x itself. (Rounding x to the nearest float may give a tie between two
/// 16-bit numbers although x is none.)
RECOLLECT_ON_BOTH inline float to_odd(double x) {
  const float nearest = float(x);
  const double back = double(nearest);
  const std::uint32_t bits = of(nearest);
  if (back == x || x != x || bits % 2 == 1) return nearest;
  const bool towards_zero =
      x > 0 ? back > x : back < x; // x, and so the odd neighbour, is nearer to zero than `nearest`
  return number(towards_zero ? bits - 1 : bits + 1);
}

} // namespace float_bits

/// bfloat16: the upper 16 bits of a float, with 8 bits of significand.
struct BFloat16 {
  std::uint16_t bits;

  BFloat16() = default;
  RECOLLECT_ON_BOTH explicit BFloat16(float x) {
    const std::uint32_t wide = float_bits::of(x);
    const bool nan = (wide & 0x7fffffffu) > 0x7f800000u;
    bits = std::uint16_t(nan ? wide >> 16 | 0x40u : (wide + 0x7fffu + (wide >> 16 & 1u)) >> 16);
  }
  RECOLLECT_ON_BOTH explicit BFloat16(double x) : BFloat16(float_bits::to_odd(x)) {}
  RECOLLECT_ON_BOTH static BFloat16 from_bits(std::uint16_t pattern) {
    BFloat16 x;
    x.bits = pattern;
    return x;
  }
  RECOLLECT_ON_BOTH operator float() const { return float_bits::number(std::uint32_t(bits) << 16); }
};

/// IEEE binary16: 11 bits of significand. The largest number is 65504, the least positive one 2^-24.
struct Float16 {
  std::uint16_t bits;

  Float16() = default;
  RECOLLECT_ON_BOTH explicit Float16(float x) {
    const std::uint32_t wide = float_bits::of(x), sign = wide >> 16 & 0x8000u, size = wide & 0x7fffffffu;
    std::uint32_t rounded;
    if (size >= 0x47800000u) // 2^16 and more, NaN
      rounded = size > 0x7f800000u ? 0x7e00u : 0x7c00u;
    else if (size < 0x38800000u) // below 2^-14 (subnormal) the spacing is 2^-24, as between floats in [0.5, 1)
      rounded = float_bits::of(float_bits::number(size) + 0.5f) - float_bits::of(0.5f);
    else // exponent bias 15 instead of 127; rounding may carry into the exponent
      rounded = (size - (112u << 23) + 0xfffu + (size >> 13 & 1u)) >> 13;
    bits = std::uint16_t(sign | rounded);
  }
  RECOLLECT_ON_BOTH explicit Float16(double x) : Float16(float_bits::to_odd(x)) {}
  RECOLLECT_ON_BOTH static Float16 from_bits(std::uint16_t pattern) {
    Float16 x;
    x.bits = pattern;
    return x;
  }
  RECOLLECT_ON_BOTH operator float() const {
    const std::uint32_t sign = std::uint32_t(bits & 0x8000u) << 16, size = bits & 0x7fffu;
    if (size >= 0x7c00u) return float_bits::number(sign | 0x7f800000u | (size & 0x3ffu) << 13);
    if (size >= 0x400u) return float_bits::number(sign | ((size << 13) + (112u << 23)));
    const float subnormal = float(size) * (1.0f / (1 << 24));
    return sign ? -subnormal : subnormal;
  }
};

} // namespace recollect
