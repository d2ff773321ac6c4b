// SPDX-License-Identifier: Apache-2.0
#include "harness/check/precision.hpp"
#include "harness/core/error.hpp"
#include "harness/core/text.hpp"
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace recollect {
namespace {

struct Format {
  const char *name;
  int digits;      // digits of the significand, the leading one included
  int least, most; // exponents of the smallest normal number and of the largest number
};
const Format &format_of(Precision precision) {
  static constexpr Format formats[] = {{"f64", 53, -1022, 1023},
                                       {"f32", 24, -126, 127},
                                       {"tf32", 11, -126, 127},
                                       {"f16", 11, -14, 15},
                                       {"bf16", 8, -126, 127}};
  return formats[int(precision)];
}

/// 2^e, faster than ldexp(): ilogb() and ldexp() of the C library would take two fifths of the time of a diagnosis.
double power_of_two(int e) {
  if (e < -1022 || e > 1023) return std::ldexp(1.0, e);
  const std::uint64_t bits = std::uint64_t(e + 1023) << 52;
  double power;
  std::memcpy(&power, &bits, sizeof power);
  return power;
}

} // namespace

const char *name_of(Precision precision) { return format_of(precision).name; }

const std::vector<std::string> &precision_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (Precision precision : all_precisions) all.push_back(name_of(precision));
    return all;
  }();
  return names;
}

Precision parse_precision(const std::string &name) {
  const auto found = std::find(precision_names().begin(), precision_names().end(), name);
  if (found == precision_names().end())
    usage_error("unknown type '" + name + "'" + suggestion(name, precision_names()));
  return Precision(found - precision_names().begin());
}

double half_spacing(double x, Precision precision) { return HalfSpacing(precision)(x); }

HalfSpacing::HalfSpacing(Precision precision)
    : least_(format_of(precision).least + 1023), digits_(format_of(precision).digits) {}

double rounded(double x, Precision precision) {
  if (precision == Precision::f32) return double(float(x));
  if (!std::isfinite(x) || x == 0 || precision == Precision::f64) return x;
  const Format &format = format_of(precision);
  const double spacing = 2 * half_spacing(x, precision), nearest = std::nearbyint(x / spacing) * spacing;
  const double largest = (2 - power_of_two(1 - format.digits)) * power_of_two(format.most);
  return std::fabs(nearest) > largest ? std::copysign(HUGE_VAL, x) : nearest;
}

Precision precision_of(Real real, Math math) {
  if (real == Real::f64) return Precision::f64;
  if (real != Real::f32) return real == Real::bf16 ? Precision::bf16 : Precision::f16;
  return math == Math::bf16 ? Precision::bf16 : math == Math::tf32 ? Precision::tf32 : Precision::f32;
}

Precision storage_of(Precision precision) { return precision == Precision::tf32 ? Precision::f32 : precision; }

} // namespace recollect
