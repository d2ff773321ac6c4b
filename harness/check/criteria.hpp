// SPDX-License-Identifier: Apache-2.0 Criteria by which other projects accept kernels, as functions of a reference and
// a candidate, to compare with judge().
#pragma once
#include "harness/check/judge.hpp"

namespace recollect {

struct Criterion {
  std::string name, source;
  std::string says; // the rule in one line
  /// Whether the rule accepts the part. A part for which the project has no rule is accepted.
  std::function<bool(const Part &reference, const Part &candidate, Precision precision)> accepts;
};

/// Criteria of other projects; ours is judge().
const std::vector<Criterion> &criteria_in_use();

} // namespace recollect
