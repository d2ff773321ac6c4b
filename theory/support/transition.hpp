// SPDX-License-Identifier: Apache-2.0
// TRANSITION: the first edition's way of making points, until every file of theory/ has its rivals. Then this goes.
#pragma once
#include "harness/numerics/verdict.hpp"

namespace recollect::theory {

inline Point at(Point point, std::string tier, const Params &params) {
  point.tier = std::move(tier), point.params = params;
  return point;
}
using recollect::exact_point;
using recollect::sampled_point;
inline Point exact_point(double measured, double predicted, double conditioning, double) {
  return recollect::exact_point(measured, predicted, conditioning);
}
inline Point sampled_point(double measured, double predicted, double standard_error, double, double bias = 0) {
  return recollect::sampled_point(Mean{measured, standard_error}, predicted, bias);
}
inline Point bounded_point(double measured, Point::Relation relation, double bound, double tolerance, double) {
  return relation == Point::at_most    ? at_most_point(measured, bound, tolerance)
         : relation == Point::at_least ? at_least_point(measured, bound, tolerance)
                                       : bracketed_point(measured, bound, tolerance);
}

} // namespace recollect::theory
