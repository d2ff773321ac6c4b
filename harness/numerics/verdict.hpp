// SPDX-License-Identifier: Apache-2.0
// Turns measurements into verdicts. Uses no clock, no device and no files.
#pragma once
#include "harness/core/claim.hpp"
#include "harness/numerics/statistics.hpp"

namespace recollect {

/// A random measurement may differ from its prediction by this many standard errors. The two-sided normal tail is 1e-10
/// per point, so a ledger of up to 10^4 points raises a false alarm at most once in 10^6 runs.
constexpr double allowed_standard_errors = 6.47;

// Points: a measurement, a prediction, and the difference allowed.

/// Equal in theory; only rounding may make a difference. `conditioning` bounds the rounding error of the computation in
/// units of float64's eps. It includes the scale of the values; the caller derives it.
Point exact_point(double measured, double predicted, double conditioning);
/// The same for arrays. The point shows the element with the largest error if this exceeds the tolerance, else the
/// largest element. Empty arrays and arrays of different sizes are refuted.
Point exact_point(const std::vector<double> &measured, const std::vector<double> &predicted, double conditioning);
/// `measured` is a sample mean. `bias` is a bound on a further error that is not random.
Point sampled_point(const Mean &measured, double predicted, double bias = 0);
/// `measured` has a known error bound `tolerance`, as from a quadrature or a limit.
Point bracketed_point(double measured, double predicted, double tolerance);
/// measured <= bound or measured >= bound, up to `tolerance` or, for a Mean, up to its sampling error.
Point at_most_point(double measured, double bound, double tolerance);
Point at_least_point(double measured, double bound, double tolerance);
Point at_most_point(const Mean &measured, double bound);
Point at_least_point(const Mean &measured, double bound);

// Roles.

Point as_statement(Point point, const Params &params, std::string label = "");
Point as_limit(Point point, const Params &params, std::string label = "");
Point as_condition(Point point, const Params &params, std::string label = "");
Point as_obligation(Point point, const Params &params, std::string label = "");
/// The measurement of `point` compared with the prediction or bound of another law, which is called `name`.
Point rival_law(Point point, std::string name, double predicted);
/// A wrong system, measured by the same code and compared with the prediction for the right system.
Point rival_system(Point point, const Params &params, std::string name);

// Verdicts.

/// The verdict on this point alone. NaN is refuted, except that a rival with a number that is not finite is
/// inconclusive.
Verdict judge(const Point &point);

/// The point with its verdict computed again, after its numbers were changed.
Point judged(Point point);

/// For an equality, the relative error of the prediction that the point detects with 95% power. For an upper bound, its
/// tightness measured / bound; for a lower bound, bound / measured.
double sensitivity(const Point &point);

struct Finding {
  const Claim *claim = nullptr;
  std::vector<Point> points; // rivals included
  Verdict verdict = Verdict::inconclusive;
  bool passed = false; // the verdict is the expected one, obligations hold, every rival is refuted
  bool tested() const { return claim->reason == Reason::none; }
  double seconds = 0;
};

/// The verdict on all points of a claim. It is inconclusive if there are only rivals, if a point is inconclusive, if
/// there is no rival, or if a rival is not refuted: a measurement that cannot tell the statement from a rival shows
/// nothing. Otherwise the statement points decide. If one of them is refuted while there are condition points or limit
/// points and all of these hold, the verdict is holds_under (with condition points) or holds_asymptotically (without).
/// If there are no statement points, all other points must hold.
Verdict verdict_of(const std::vector<Point> &points);
Finding conclude(const Claim &claim, std::vector<Point> points);

Finding examine(const Claim &claim, const Protocol &protocol);

} // namespace recollect
