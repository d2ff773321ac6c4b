// SPDX-License-Identifier: Apache-2.0
// Points measured by quadrature or by extrapolation: no sampling error, and a tolerance that comes with the number.
#pragma once
#include "quadrature.hpp"
#include "verdict.hpp"

namespace recollect::theory {

inline Point integral_point(Integral measured, double predicted, double resolution) {
  return exact_point(measured.value, predicted, measured.error / epsilon_of(Real::f64), resolution);
}

/// The value that y (each within `error` of the truth) tends to as h -> 0.
inline Point limit_point(const std::vector<double> &h, const std::vector<double> &y, const std::vector<double> &error,
                         double predicted, double resolution) {
  const Limit limit = limit_at_zero(h, y);
  return integral_point(
      {limit.value, limit.error + limit.amplification * *std::max_element(error.begin(), error.end())}, predicted,
      resolution);
}

} // namespace recollect::theory
