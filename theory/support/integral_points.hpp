// SPDX-License-Identifier: Apache-2.0
// Points measured by quadrature or by extrapolation: no sampling error, and a tolerance that comes with the number.
#pragma once
#include "harness/numerics/verdict.hpp"
#include "theory/support/quadrature.hpp"

namespace recollect::theory {

inline Point integral_point(Integral measured, double predicted, double = 0) {
  return bracketed_point(measured.value, predicted, measured.error);
}

/// The value that y (each within `error` of the truth) tends to as h -> 0.
inline Point limit_point(const std::vector<double> &h, const std::vector<double> &y, const std::vector<double> &error,
                         double predicted, double = 0) {
  const Limit found = limit_at_zero(h, y);
  return integral_point(
      {found.value, found.error + found.amplification * *std::max_element(error.begin(), error.end())}, predicted);
}

} // namespace recollect::theory
