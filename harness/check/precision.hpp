// SPDX-License-Identifier: Apache-2.0
// The number types that kernels compute in: distances between their numbers, and rounding to them.
#pragma once
#include "harness/core/types.hpp"
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace recollect {

/// The arithmetic that a kernel claims to use. tf32: arrays are float32, and products round their operands to 10 bits
/// after the leading one.
enum class Precision { f64, f32, tf32, f16, bf16 };
constexpr Precision all_precisions[] = {Precision::f64, Precision::f32, Precision::tf32, Precision::f16,
                                        Precision::bf16};
const char *name_of(Precision precision);
const std::vector<std::string> &precision_names();
/// Usage error that suggests the nearest name.
Precision parse_precision(const std::string &name);

/// Half the distance between neighbouring numbers of the type at x: the largest change by rounding to nearest.
/// Neighbouring subnormal numbers of f16 have a distance of 2^-24. Beyond the range of the type, numbers are treated as
/// if exponents were unlimited.
double half_spacing(double x, Precision precision);

/// half_spacing() of many numbers of one type.
class HalfSpacing {
public:
  explicit HalfSpacing(Precision precision);
  double operator()(double x) const {
    std::uint64_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    const std::int64_t exponent = std::int64_t(bits >> 52 & 0x7ff), half = std::max(exponent, least_) - digits_;
    if (half < 1) return std::ldexp(1.0, int(half) - 1023); // subnormal, in float64 only
    bits = std::uint64_t(half) << 52;
    std::memcpy(&x, &bits, sizeof x);
    return exponent == 0x7ff ? 0 : x;
  }

private:
  std::int64_t least_, digits_; // least_: least exponent, with float64's bias; digits_: digits of the significand
};

/// x rounded to the nearest number of the type, ties to even; infinity if that is beyond the largest number of the
/// type.
double rounded(double x, Precision precision);
/// The type that arrays are stored in: f32 for tf32, otherwise the type itself.
Precision storage_of(Precision precision);
/// The arithmetic of a run whose arrays have type `real` and whose products have precision `math`.
Precision precision_of(Real real, Math math);

} // namespace recollect
