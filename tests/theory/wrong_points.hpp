// SPDX-License-Identifier: Apache-2.0
// Which of a claim's points came out wrong: obligations, limits and conditions must hold, rivals must be refuted.
// Statements are left to the verdict.
#pragma once
#include "harness/numerics/verdict.hpp"
#include <sstream>

namespace recollect {

/// One sentence per wrong point: role, label, parameters, measurement.
inline std::vector<std::string> wrong_points(const Finding &finding) {
  std::vector<std::string> all;
  for (const Point &point : finding.points) {
    if (point.role == Role::statement) continue;
    if (point.verdict == (point.role == Role::rival ? Verdict::refuted : Verdict::holds)) continue;
    std::ostringstream text;
    text << name_of(point.role) << " " << point.label << " " << point.params.str() << ": measured " << point.measured
         << ", predicted " << point.predicted << ", tolerance " << point.tolerance << ", " << name_of(point.verdict);
    all.push_back(text.str());
  }
  return all;
}

} // namespace recollect
