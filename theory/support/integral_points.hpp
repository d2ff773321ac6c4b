// SPDX-License-Identifier: Apache-2.0
// Points measured by quadrature or extrapolation. They have no sampling error; their tolerance is the error bound of
// the method.
#pragma once
#include "harness/numerics/verdict.hpp"
#include "theory/support/quadrature.hpp"

namespace recollect::theory {
inline Point integral_point(Integral measured, double predicted) {
  return bracketed_point(measured.value, predicted, measured.error);
}
/// integral_point() for Points (claim_builder.hpp).
inline Point compare(Integral measured, double law, double) { return integral_point(measured, law); }
inline Integral operator+(Integral a, double b) { return {a.value + b, a.error}; }
inline Integral operator+(Integral a, Integral b) { return {a.value + b.value, a.error + b.error}; }
inline Integral operator*(double factor, Integral a) { return {factor * a.value, std::fabs(factor) * a.error}; }
inline Integral operator*(Integral a, Integral b) {
  return {a.value * b.value, std::fabs(a.value) * b.error + std::fabs(b.value) * a.error};
}
inline Integral operator/(Integral a, Integral b) {
  const double ratio = a.value / b.value;
  return {ratio, (a.error + std::fabs(ratio) * b.error) / std::fabs(b.value)};
}
inline Integral log(Integral a) { return {std::log(a.value), a.error / a.value}; }

/// The limit of y as h -> 0; the values of h descend.
inline Integral limit_of(const std::vector<double> &h, const std::vector<Integral> &y) {
  std::vector<double> values;
  double error = 0;
  for (const Integral &each : y) values.push_back(each.value), error = std::max(error, each.error);
  const Limit found = limit_at_zero(h, values);
  return {found.value, found.error + found.amplification * error};
}
} // namespace recollect::theory
