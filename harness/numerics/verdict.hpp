// SPDX-License-Identifier: Apache-2.0
// Turns measurements into verdicts. Uses no device and no files.
#pragma once
#include "harness/core/claim.hpp"
#include "harness/numerics/statistics.hpp"

namespace recollect {

/// A random measurement may differ from its prediction by this many standard errors. The two-sided normal tail is 1e-10
/// per point, so a ledger of up to 10^4 points raises a false alarm at most once in 10^6 runs.
constexpr double allowed_standard_errors = 6.47;

// Functions that make a point: a measurement, a prediction, and the difference that is allowed between them.

/// `measured` equals `predicted` in theory, so they may differ only by rounding. `conditioning`, which the caller
/// derives, bounds the rounding error of the computation in units of float64's eps. It includes the scale of the
/// values.
Point exact_point(double measured, double predicted, double conditioning);
/// The same for arrays. The point shows the element with the largest error if this error exceeds the tolerance,
/// otherwise the element with the largest prediction. Empty arrays and arrays of different sizes are refuted.
Point exact_point(const std::vector<double> &measured, const std::vector<double> &predicted, double conditioning);
/// `measured` is a sample mean. `bias` is a bound on a further error that is not random.
Point sampled_point(const Mean &measured, double predicted, double bias = 0);
/// `tolerance` is a known bound on the error of `measured`, for example the error of a quadrature.
Point bracketed_point(double measured, double predicted, double tolerance);
/// Points for measured <= bound and for measured >= bound. A violation of the bound is allowed up to `tolerance` or,
/// for a Mean, up to the sampling error.
Point at_most_point(double measured, double bound, double tolerance);
Point at_least_point(double measured, double bound, double tolerance);
Point at_most_point(const Mean &measured, double bound);
Point at_least_point(const Mean &measured, double bound);

// Functions that give a point its role in the claim (harness/core/claim.hpp).

Point as_statement(Point point, const Params &params, std::string label = "");
Point as_limit(Point point, const Params &params, std::string label = "");
Point as_condition(Point point, const Params &params, std::string label = "");
Point as_obligation(Point point, const Params &params, std::string label = "");
/// A wrong law, called `name`. The measurement of `point` is compared with the prediction or bound of this law,
/// `predicted`.
Point rival_law(Point point, std::string name, double predicted);
/// A wrong system, called `name`. `point` compares a measurement of this system with the prediction for the right one.
Point rival_system(Point point, const Params &params, std::string name);

// Functions that give verdicts.

/// The verdict on this point alone. It is inconclusive if the standard error is NaN or infinite, or if the point is a
/// rival and one of its numbers is not finite. Apart from this, NaN is refuted.
Verdict judge(const Point &point);

/// The same point with the verdict that belongs to its numbers.
Point judged(Point point);

/// For an equality, the relative error of the prediction that the point detects with 95% power. For an upper bound,
/// measured / bound, and for a lower bound, bound / measured: 1 if the bound is tight.
double sensitivity(const Point &point);

struct Finding {
  const Claim *claim = nullptr;
  std::vector<Point> points; // rivals included
  Verdict verdict = Verdict::inconclusive;
  bool passed = false; // the verdict is the expected one, and limits, conditions and obligations hold
  bool tested() const { return claim->reason == Reason::none; }
  double seconds = 0;
};

/// The verdict on all points of a claim. It is inconclusive if there are only rivals, if a point is inconclusive, if
/// there is no rival, or if a rival is not refuted: a measurement that cannot tell the statement from a rival shows
/// nothing. Otherwise the statement points decide: `holds` if none of them is refuted. If one is refuted, the verdict
/// is `refuted`, unless there are condition or limit points and all of these hold. Then it is `holds_under` if there
/// are condition points, and `holds_asymptotically` if there are only limit points. If there are no statement points,
/// all other points must hold.
Verdict verdict_of(const std::vector<Point> &points);
Finding conclude(const Claim &claim, std::vector<Point> points);

Finding examine(const Claim &claim, const Protocol &protocol);

} // namespace recollect
