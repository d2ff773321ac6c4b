// SPDX-License-Identifier: Apache-2.0
#include "verdict.hpp"
#include <algorithm>
#include <chrono>
#include <cmath>

namespace recollect {

Verdict judge(const Point &p) {
  const double difference = p.measured - p.predicted;
  if (!(p.standard_error >= 0) || std::isinf(p.standard_error)) return Verdict::inconclusive;
  const bool inside = p.relation == Point::equal     ? std::fabs(difference) <= p.tolerance || p.measured == p.predicted
                      : p.relation == Point::at_most ? difference <= p.tolerance
                                                     : difference >= -p.tolerance;
  if (!inside) return Verdict::refuted;
  return p.standard_error > 0 && p.resolution < 2 * p.tolerance ? Verdict::inconclusive : Verdict::holds;
}

namespace {
Point judged(Point point) {
  point.verdict = judge(point);
  return point;
}
bool decides(const Point &point) { return point.tier == "paper"; }
} // namespace

Point exact_point(double measured, double predicted, double conditioning, double resolution) {
  Point p;
  p.measured = measured, p.predicted = predicted, p.resolution = resolution;
  p.tolerance = conditioning * epsilon_of(Real::f64);
  return judged(p);
}

Point sampled_point(double measured, double predicted, double standard_error, double resolution, double bias) {
  Point p;
  p.measured = measured, p.predicted = predicted, p.standard_error = standard_error, p.resolution = resolution;
  p.tolerance = allowed_standard_errors * standard_error + bias;
  return judged(p);
}

Point bounded_point(double measured, Point::Relation relation, double bound, double tolerance, double resolution) {
  Point p;
  p.measured = measured, p.predicted = bound, p.tolerance = tolerance, p.resolution = resolution, p.relation = relation;
  return judged(p);
}

Point at(Point point, std::string tier, const Params &params) {
  point.tier = std::move(tier);
  point.params = params;
  return point;
}

Verdict verdict_of(const std::vector<Point> &points) {
  const auto any = [&](auto wanted) { return std::any_of(points.begin(), points.end(), wanted); };
  if (points.empty() || any([](const Point &p) { return p.verdict == Verdict::inconclusive; }))
    return Verdict::inconclusive;
  const bool stated = any(decides);
  if (!any([&](const Point &p) { return (!stated || decides(p)) && p.verdict == Verdict::refuted; }))
    return Verdict::holds;
  const auto limit = [](const Point &p) { return p.tier == "limit"; };
  const bool converges =
      stated && any(limit) && !any([&](const Point &p) { return limit(p) && p.verdict != Verdict::holds; });
  return converges ? Verdict::holds_asymptotically : Verdict::refuted;
}

bool obligations_hold(const std::vector<Point> &points) {
  return std::all_of(points.begin(), points.end(),
                     [](const Point &p) { return decides(p) || p.verdict == Verdict::holds; });
}

std::vector<Point> shifted(const std::vector<Point> &points) {
  std::vector<Point> control;
  for (Point p : points) {
    if (decides(p)) continue;
    // A bound is moved to the far side of the measurement, an equality off by the resolution.
    if (p.relation == Point::equal)
      p.predicted += p.resolution;
    else
      p.predicted = p.measured + (p.relation == Point::at_most ? -p.resolution : p.resolution);
    control.push_back(judged(p));
  }
  return control;
}

Finding examine(const Claim &claim, const Protocol &protocol) {
  const auto start = std::chrono::steady_clock::now();
  Finding f;
  f.claim = &claim;
  f.points = claim.measure(protocol);
  f.control = claim.control ? claim.control(protocol) : shifted(f.points);
  f.verdict = verdict_of(f.points);
  const bool all_refuted = !f.control.empty() && std::all_of(f.control.begin(), f.control.end(), [](const Point &p) {
    return p.verdict == Verdict::refuted;
  });
  f.control_verdict = all_refuted ? Verdict::refuted : Verdict::holds;
  f.passed = f.verdict == claim.expected && obligations_hold(f.points) && all_refuted;
  f.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return f;
}

} // namespace recollect
