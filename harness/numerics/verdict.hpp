// SPDX-License-Identifier: Apache-2.0
// From measurements to verdicts. Pure: no clock, no device, no files.
#pragma once
#include "harness/core/claim.hpp"
#include "harness/numerics/statistics.hpp"

namespace recollect {

/// Standard errors allowed on a random measurement: two-sided normal tail 1e-10 a point, so that a ledger of up to 10^4
/// points raises a false alarm less than once in 10^6 runs.
constexpr double allowed_standard_errors = 6.47;

// ---- Points: what was measured, what was predicted, and how far apart they may be --------------------------------------

/// Equal in theory; round-off alone may part them. `conditioning` is the number of float64 rounding units that the
/// computation may lose, in the scale of the values, derived at the call.
Point exact_point(double measured, double predicted, double conditioning);
/// The same for whole arrays: the point shows the element that misses the tolerance most, or where none does, the
/// largest one. Arrays of different sizes, and empty ones, are refuted.
Point exact_point(const std::vector<double> &measured, const std::vector<double> &predicted, double conditioning);
/// `measured` is a sample mean. `bias` bounds a known error that is not random.
Point sampled_point(const Mean &measured, double predicted, double bias = 0);
/// The difference of two values is known to be at most `tolerance`: a quadrature's or a limit's own error bound.
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
/// The same measurement held against the prediction (or bound) of another law: `name` says which.
Point rival_law(Point point, std::string name, double predicted);
/// A wrong system, measured by the same code and held against the prediction of the right one.
Point rival_system(Point point, const Params &params, std::string name);

// ---- Verdicts ------------------------------------------------------------------------------------------------------------

/// The point's own verdict from its numbers. NaN is refuted, never a pass; a rival that is not finite is inconclusive.
Verdict judge(const Point &point);

/// Judged again after a change of its numbers.
Point judged(Point point);

/// What the point would notice. Equalities: the smallest relative error of the prediction that 95% of runs would
/// refute. Bounds: the tightness, measured / bound (bound / measured where the bound is from below).
double sensitivity(const Point &point);

struct Finding {
  const Claim *claim = nullptr;
  std::vector<Point> points; // rivals among them
  Verdict verdict = Verdict::inconclusive;
  bool passed = false; // verdict as expected, obligations hold, every rival refuted
  bool tested() const { return claim->reason == Reason::none; }
  double seconds = 0;
};

/// The verdict on these points. Decided by the statement points where there are any (refuted there but every condition
/// and limit point holding: holds_under where there are conditions, else holds_asymptotically), by the obligations
/// otherwise. Inconclusive where there are no points, where
/// one is inconclusive, and where there is no rival or one is not refuted:
/// what cannot be told from a rival is not shown.
Verdict verdict_of(const std::vector<Point> &points);
Finding conclude(const Claim &claim, std::vector<Point> points);

/// Measures the claim.
Finding examine(const Claim &claim, const Protocol &protocol);

} // namespace recollect
