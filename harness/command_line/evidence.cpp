// SPDX-License-Identifier: Apache-2.0
#include "harness/command_line/evidence.hpp"
#include <cmath>

namespace recollect {
namespace {

/// Sum of the absolute values of the point's numeric parameters. The smaller, the better the point is as a
/// counter-example.
double size(const Point &p) {
  double total = 0;
  for (const auto &[name, value] : p.params) total += value.text.empty() ? std::fabs(value.number) : 0;
  return total;
}

} // namespace

const Point *counter_example(const Finding &f) {
  const Point *smallest = nullptr;
  for (const Point &p : f.points)
    if (p.role == Role::statement && p.verdict == Verdict::refuted && (!smallest || size(p) < size(*smallest)))
      smallest = &p;
  return smallest;
}

const Point *tightest(const Finding &f, Role role) {
  const Point *found = nullptr;
  for (const Point &p : f.points)
    if (p.role == role && (!found || distance(p) > distance(*found))) found = &p;
  return found;
}

double distance(const Point &p) {
  const double gap = std::fabs(p.measured - p.predicted);
  return p.tolerance > 0 ? gap / p.tolerance : gap > 0 ? HUGE_VAL : 0;
}

std::string repeat_command(const Claim &c, const Protocol &protocol) {
  return "recollect verify " + c.id + (protocol.full() ? " --suite full" : "") + " --seed " +
         std::to_string(protocol.seed) + (protocol.point ? " --point " + protocol.point->str() : "");
}

} // namespace recollect
