// SPDX-License-Identifier: Apache-2.0
// Only this file uses Boost.Multiprecision, so that layers do not include it. exp, log and sqrt, which layers call
// most, use Quad's own arithmetic, which takes a tenth of the time.
#include "harness/core/quad.hpp"
#include <boost/math/constants/constants.hpp>
#include <boost/math/special_functions/erf.hpp>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cmath>

namespace recollect::math {
namespace {

using Float = boost::multiprecision::cpp_bin_float_quad;

/// Converts through three float64s, whose sum is exactly x within the range of float64.
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
/// exp(x) = 2^n e^r with |r| <= log(2) / 2. e^r is summed up to r^26 / 26!; the next term is below 2^-117.
Quad exp(Quad x) {
  if (!std::isfinite(double(x))) return std::exp(double(x));
  static const Quad log_2 = narrow(boost::math::constants::ln_two<Float>());
  const double n = std::nearbyint(double(x) / double(log_2));
  const Quad r = x - n * log_2;
  Quad sum = 1;
  for (int k = 26; k > 0; --k) sum = 1 + r * sum / k;
  return sum * std::exp2(n);
}
/// The float64 logarithm, then one step of Halley's method, which cubes the error.
Quad log(Quad x) {
  const double near = std::log(double(x));
  if (!std::isfinite(near)) return near;
  const Quad e = exp(Quad(near));
  return near + 2 * (x - e) / (x + e);
}
Quad log1p(Quad x) { return narrow(boost::math::log1p(wide(x))); }
Quad erf(Quad x) { return narrow(boost::math::erf(wide(x))); }
Quad tanh(Quad x) { return narrow(boost::multiprecision::tanh(wide(x))); }
/// The float64 root, then two Newton steps.
Quad sqrt(Quad x) {
  Quad root = std::sqrt(double(x));
  for (int step = 0; step < 2 && root > 0; ++step) root = (root + x / root) / 2;
  return root;
}
Quad pow(Quad x, Quad y) { return narrow(boost::multiprecision::pow(wide(x), wide(y))); }
Quad floor(Quad x) { return narrow(boost::multiprecision::floor(wide(x))); }

} // namespace recollect::math
