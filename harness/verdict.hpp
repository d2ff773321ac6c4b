// SPDX-License-Identifier: Apache-2.0
// From measurements to verdicts. Pure: no clock, no device, no files.
#pragma once
#include "entries.hpp"

namespace recollect {

/// Standard errors allowed on a random measurement: two-sided normal tail 1e-10 a point, so that a ledger of up to 10^4
/// points raises a false alarm less than once in 10^6 runs.
constexpr double allowed_standard_errors = 6.47;

/// `measured` equals `predicted` exactly in theory; round-off alone may part them. `conditioning` multiplies the unit
/// round-off of float64: how many units the computation may lose, derived at the call. `resolution` is the smallest
/// wrong deviation the point must still see.
Point exact_point(double measured, double predicted, double conditioning, double resolution);

/// `measured` is a sample mean with this standard error. Inconclusive unless the resolution exceeds twice the
/// tolerance, so that the shifted control is told apart as surely as a true prediction is accepted. `bias` bounds a
/// known non-random error.
Point sampled_point(double measured, double predicted, double standard_error, double resolution, double bias = 0);

/// measured <= bound (or >=) up to the tolerance.
Point bounded_point(double measured, Point::Relation relation, double bound, double tolerance, double resolution);

/// Sets tier and parameters, for building lists in one expression.
Point at(Point point, std::string tier, const Params &params);

/// The point's own verdict from its numbers. NaN is refuted, never a pass.
Verdict judge(const Point &point);

/// The claim's verdict from its points: decided by tier "paper" where there is one (refuted there but every "limit"
/// point holding = holds_asymptotically), by the obligations otherwise. Inconclusive if any point is, or if there are
/// none.
Verdict verdict_of(const std::vector<Point> &points);

/// Every obligation (any tier but "paper") holds.
bool obligations_hold(const std::vector<Point> &points);

/// The obligations judged again, each against a prediction that is off by its resolution.
std::vector<Point> shifted(const std::vector<Point> &points);

struct Finding {
  const Claim *claim = nullptr;
  std::vector<Point> points, control;
  Verdict verdict = Verdict::inconclusive;
  Verdict control_verdict = Verdict::inconclusive; // refuted exactly when every control point is
  bool passed = false;                             // verdict as expected, obligations hold, control refuted
  double seconds = 0;
};

/// Measures the claim and its control.
Finding examine(const Claim &claim, const Protocol &protocol);

} // namespace recollect
