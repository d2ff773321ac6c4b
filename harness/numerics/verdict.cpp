// SPDX-License-Identifier: Apache-2.0
#include "harness/numerics/verdict.hpp"
#include "harness/system/memory.hpp"
#include <algorithm>
#include <chrono>
#include <cmath>

namespace recollect {
namespace {

Point made(double measured, double predicted, double tolerance, double standard_error = 0,
           Point::Relation relation = Point::equal) {
  Point p;
  p.measured = measured, p.predicted = predicted, p.tolerance = tolerance, p.standard_error = standard_error;
  p.relation = relation;
  return judged(p);
}

Point as(Role role, Point point, const Params &params, std::string label) {
  point.role = role, point.params = params, point.label = std::move(label);
  return judged(point);
}

Point as_rival(RivalKind kind, Point point, std::string name) {
  point.rival = kind;
  return as(Role::rival, point, point.params, std::move(name));
}

} // namespace

Verdict judge(const Point &p) {
  if (!(p.standard_error >= 0) || std::isinf(p.standard_error)) return Verdict::inconclusive;
  if (p.role == Role::rival && !(std::isfinite(p.measured) && std::isfinite(p.predicted))) return Verdict::inconclusive;
  const double difference = p.measured - p.predicted;
  const bool inside = p.relation == Point::equal     ? std::fabs(difference) <= p.tolerance || p.measured == p.predicted
                      : p.relation == Point::at_most ? difference <= p.tolerance
                                                     : difference >= -p.tolerance;
  return inside ? Verdict::holds : Verdict::refuted;
}

Point judged(Point point) {
  point.verdict = judge(point);
  return point;
}

Point exact_point(double measured, double predicted, double conditioning) {
  return made(measured, predicted, conditioning * epsilon_of(Real::f64));
}

Point exact_point(const std::vector<double> &measured, const std::vector<double> &predicted, double conditioning) {
  const double tolerance = conditioning * epsilon_of(Real::f64), missing = std::nan("");
  if (measured.size() != predicted.size() || measured.empty()) return made(missing, missing, tolerance);
  size_t worst = 0, largest = 0;
  const auto error = [&](size_t i) {
    const double difference = std::fabs(measured[i] - predicted[i]);
    return measured[i] == predicted[i] ? 0 : std::isnan(difference) ? HUGE_VAL : difference;
  };
  for (size_t i = 1; i < measured.size(); ++i) {
    if (error(i) > error(worst)) worst = i;
    if (std::fabs(predicted[i]) > std::fabs(predicted[largest])) largest = i;
  }
  const size_t shown = error(worst) > tolerance ? worst : largest;
  return made(measured[shown], predicted[shown], tolerance);
}

Point sampled_point(const Mean &measured, double predicted, double bias) {
  return made(measured.mean, predicted, allowed_standard_errors * measured.standard_error + bias,
              measured.standard_error);
}
Point bracketed_point(double measured, double predicted, double tolerance) {
  return made(measured, predicted, tolerance);
}
Point at_most_point(double measured, double bound, double tolerance) {
  return made(measured, bound, tolerance, 0, Point::at_most);
}
Point at_least_point(double measured, double bound, double tolerance) {
  return made(measured, bound, tolerance, 0, Point::at_least);
}
Point at_most_point(const Mean &m, double bound) {
  return made(m.mean, bound, allowed_standard_errors * m.standard_error, m.standard_error, Point::at_most);
}
Point at_least_point(const Mean &m, double bound) {
  return made(m.mean, bound, allowed_standard_errors * m.standard_error, m.standard_error, Point::at_least);
}

Point as_statement(Point point, const Params &params, std::string label) {
  return as(Role::statement, std::move(point), params, std::move(label));
}
Point as_limit(Point point, const Params &params, std::string label) {
  return as(Role::limit, std::move(point), params, std::move(label));
}
Point as_condition(Point point, const Params &params, std::string label) {
  return as(Role::condition, std::move(point), params, std::move(label));
}
Point as_obligation(Point point, const Params &params, std::string label) {
  return as(Role::obligation, std::move(point), params, std::move(label));
}
Point rival_law(Point point, std::string name, double predicted) {
  point.predicted = predicted;
  return as_rival(RivalKind::law, point, std::move(name));
}
Point rival_system(Point point, const Params &params, std::string name) {
  point.params = params;
  return as_rival(RivalKind::system, point, std::move(name));
}

double sensitivity(const Point &p) {
  if (p.relation == Point::at_most) return p.measured / p.predicted;
  if (p.relation == Point::at_least) return p.predicted / p.measured;
  constexpr double power_95 = 1.645;
  return (p.tolerance + power_95 * p.standard_error) / std::fabs(p.predicted);
}

Verdict verdict_of(const std::vector<Point> &points) {
  const auto any = [&](Role role, auto wanted) {
    return std::any_of(points.begin(), points.end(),
                       [&](const Point &p) { return p.role == role && wanted(p.verdict); });
  };
  const auto present = [](Verdict) { return true; };
  const auto refuted = [](Verdict v) { return v == Verdict::refuted; };
  const auto not_refuted = [](Verdict v) { return v != Verdict::refuted; };
  const auto inconclusive = [](Verdict v) { return v == Verdict::inconclusive; };
  if (!any(Role::rival, present) || any(Role::rival, not_refuted)) return Verdict::inconclusive;
  for (Role role : {Role::statement, Role::limit, Role::condition, Role::obligation})
    if (any(role, inconclusive)) return Verdict::inconclusive;

  const bool stated = any(Role::statement, present), limits = any(Role::limit, present),
             conditions = any(Role::condition, present);
  if (!stated && !limits && !conditions && !any(Role::obligation, present)) return Verdict::inconclusive;
  const bool missed = any(Role::limit, refuted) || any(Role::condition, refuted);
  if (!stated) return missed || any(Role::obligation, refuted) ? Verdict::refuted : Verdict::holds;
  if (!any(Role::statement, refuted)) return Verdict::holds;
  if (missed || !(limits || conditions)) return Verdict::refuted;
  return conditions ? Verdict::holds_under : Verdict::holds_asymptotically;
}

Finding conclude(const Claim &claim, std::vector<Point> points) {
  Finding f;
  f.claim = &claim;
  f.points = std::move(points);
  if (!f.tested()) {
    f.verdict = Verdict::not_tested;
    return f;
  }
  f.verdict = verdict_of(f.points);
  const bool obliged = std::all_of(f.points.begin(), f.points.end(), [](const Point &p) {
    return p.role == Role::statement || p.role == Role::rival || p.verdict == Verdict::holds;
  });
  f.passed = f.verdict == claim.expected && obliged;
  return f;
}

Finding examine(const Claim &claim, const Protocol &protocol) {
  keep_freed_memory();
  const auto start = std::chrono::steady_clock::now();
  Finding f = conclude(claim, claim.measure ? claim.measure(protocol) : std::vector<Point>{});
  f.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return f;
}

} // namespace recollect
