// SPDX-License-Identifier: Apache-2.0
// Only this file uses Boost.Multiprecision, so that layers do not include it. The functions that layers call most use
// the type's own arithmetic, which takes a tenth of the time.
#include "harness/core/quad.hpp"
#include <boost/math/constants/constants.hpp>
#include <boost/math/special_functions/erf.hpp>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cmath>

namespace recollect::math {
namespace {

using Float = boost::multiprecision::cpp_bin_float_quad;

/// The sum of three float64s holds all digits of a number in their range.
Float wide(Quad x) {
  Float sum = 0;
  for (int part = 0; part < 3; ++part) {
    const double leading = double(x);
    sum += leading;
    x -= leading;
  }
  return sum;
}
Quad narrow(Float x) {
  Quad sum = 0;
  for (int part = 0; part < 3; ++part) {
    const double leading = x.convert_to<double>();
    sum += leading;
    x -= leading;
  }
  return sum;
}

} // namespace

Quad cos(Quad x) { return narrow(boost::multiprecision::cos(wide(x))); }
Quad sin(Quad x) { return narrow(boost::multiprecision::sin(wide(x))); }
/// 2^n e^r with |r| <= log(2) / 2, e^r by 26 terms of its series: the next is below 2^-117.
Quad exp(Quad x) {
  if (!std::isfinite(double(x))) return std::exp(double(x));
  static const Quad log_2 = narrow(boost::math::constants::ln_two<Float>());
  const double n = std::nearbyint(double(x) / double(log_2));
  const Quad r = x - n * log_2;
  Quad sum = 1;
  for (int k = 26; k > 0; --k) sum = 1 + r * sum / k;
  return sum * std::exp2(n);
}
/// One step of Halley's method cubes the error of float64's logarithm.
Quad log(Quad x) {
  const double near = std::log(double(x));
  if (!std::isfinite(near)) return near;
  const Quad e = exp(Quad(near));
  return near + 2 * (x - e) / (x + e);
}
Quad log1p(Quad x) { return narrow(boost::math::log1p(wide(x))); }
Quad erf(Quad x) { return narrow(boost::math::erf(wide(x))); }
Quad tanh(Quad x) { return narrow(boost::multiprecision::tanh(wide(x))); }
/// Two Newton steps, starting from the root in float64.
Quad sqrt(Quad x) {
  Quad root = std::sqrt(double(x));
  for (int step = 0; step < 2 && root > 0; ++step) root = (root + x / root) / 2;
  return root;
}
Quad pow(Quad x, Quad y) { return narrow(boost::multiprecision::pow(wide(x), wide(y))); }
Quad floor(Quad x) { return narrow(boost::multiprecision::floor(wide(x))); }

} // namespace recollect::math
