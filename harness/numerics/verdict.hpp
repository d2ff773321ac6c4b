// SPDX-License-Identifier: Apache-2.0
// From measurements to verdicts. Uses no clock, no device and no files.
#pragma once
#include "harness/core/claim.hpp"
#include "harness/numerics/statistics.hpp"

namespace recollect {

/// Standard errors allowed for a random measurement: a two-sided normal tail of 1e-10 per point, so that a ledger of up
/// to 10^4 points raises a false alarm less than once in 10^6 runs.
constexpr double allowed_standard_errors = 6.47;

// ---- Points: a measurement, a prediction, and the difference allowed -------------------------------------------------

/// Equal in theory; only rounding may make a difference. `conditioning` bounds the rounding error of the computation in
/// units of float64's eps. It includes the scale of the values; the caller derives it.
Point exact_point(double measured, double predicted, double conditioning);
/// The same for arrays. The point shows the element that exceeds the tolerance most, or if none does, the largest one.
/// Arrays of different sizes, and empty ones, are refuted.
Point exact_point(const std::vector<double> &measured, const std::vector<double> &predicted, double conditioning);
/// `measured` is a sample mean. `bias` bounds a known error that is not random.
Point sampled_point(const Mean &measured, double predicted, double bias = 0);
/// The difference is known to be at most `tolerance`: the error bound of a quadrature or a limit.
Point bracketed_point(double measured, double predicted, double tolerance);
/// measured <= bound (or >=) up to the tolerance, or up to its sampling error.
Point at_most_point(double measured, double bound, double tolerance);
Point at_least_point(double measured, double bound, double tolerance);
Point at_most_point(const Mean &measured, double bound);
Point at_least_point(const Mean &measured, double bound);

// ---- Roles ---------------------------------------------------------------------------------------------------------------

Point as_statement(Point point, const Params &params, std::string label = "");
Point as_limit(Point point, const Params &params, std::string label = "");
Point as_condition(Point point, const Params &params, std::string label = "");
Point as_obligation(Point point, const Params &params, std::string label = "");
/// The same measurement compared with the prediction (or bound) of another law; `name` says which.
Point rival_law(Point point, std::string name, double predicted);
/// A wrong system, measured by the same code and compared with the prediction for the right system.
Point rival_system(Point point, const Params &params, std::string name);

// ---- Verdicts ------------------------------------------------------------------------------------------------------------

/// The point's own verdict from its numbers. NaN is refuted, never a pass; a rival that is not finite is inconclusive.
Verdict judge(const Point &point);

/// The point, judged again after its numbers were changed.
Point judged(Point point);

/// The point's sensitivity. For equalities: the relative error of the prediction that it detects with 95% power. For
/// bounds: the tightness, measured / bound (bound / measured for a lower bound).
double sensitivity(const Point &point);

struct Finding {
  const Claim *claim = nullptr;
  std::vector<Point> points; // rivals included
  Verdict verdict = Verdict::inconclusive;
  bool passed = false; // the verdict is the expected one, obligations hold, every rival is refuted
  bool tested() const { return claim->reason == Reason::none; }
  double seconds = 0;
};

/// The verdict on these points. It is decided by the statement points if there are any, else by the obligations. If a
/// statement point is refuted and every condition and limit point holds, it is holds_under (with condition points) or
/// holds_asymptotically. It is inconclusive if there are no points, if a point is inconclusive, if there is no rival,
/// or if a rival is not refuted: a measurement that cannot tell the statement from a rival shows nothing.
Verdict verdict_of(const std::vector<Point> &points);
Finding conclude(const Claim &claim, std::vector<Point> points);

Finding examine(const Claim &claim, const Protocol &protocol);

} // namespace recollect
