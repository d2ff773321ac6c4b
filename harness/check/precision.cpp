// SPDX-License-Identifier: Apache-2.0
#include "harness/check/precision.hpp"
#include "harness/core/error.hpp"
#include "harness/core/text.hpp"
#include <algorithm>
#include <cmath>

namespace recollect {
namespace {

struct Format {
  const char *name;
  int digits;      // of the significand, the leading one included
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

/// Exponent e of the spacing 2^e at x.
int spacing_exponent(double x, const Format &format) {
  const int exponent = x == 0 ? format.least : std::max(std::ilogb(x), format.least);
  return exponent - (format.digits - 1);
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

double half_spacing(double x, Precision precision) {
  return std::isfinite(x) ? std::ldexp(0.5, spacing_exponent(x, format_of(precision))) : 0;
}

double rounded(double x, Precision precision) {
  if (!std::isfinite(x) || x == 0 || precision == Precision::f64) return x;
  const Format &format = format_of(precision);
  const double spacing = std::ldexp(1.0, spacing_exponent(x, format)), nearest = std::nearbyint(x / spacing) * spacing;
  const double largest = std::ldexp(2 - std::ldexp(1.0, 1 - format.digits), format.most);
  return std::fabs(nearest) > largest ? std::copysign(HUGE_VAL, x) : nearest;
}

Precision precision_of(Real real, Math math) {
  if (real == Real::f64) return Precision::f64;
  return math == Math::bf16 ? Precision::bf16 : math == Math::tf32 ? Precision::tf32 : Precision::f32;
}

Precision storage_of(Precision precision) { return precision == Precision::tf32 ? Precision::f32 : precision; }

} // namespace recollect
