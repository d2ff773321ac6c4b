// SPDX-License-Identifier: Apache-2.0
// Estimates the time of a plan before it starts.
#pragma once
#include "harness/run/plan.hpp"
#include <functional>

namespace recollect {

struct Estimate {
  double seconds = 0; // time of all cases, one after the other
  size_t tried = 0;   // number of cases that were timed
};

/// Times some of the cases, from the lightest to the heaviest, for up to `budget` seconds. Then fits time = a + b work
/// and adds up the times of all cases; the work of a case is the number of operations of its layer's definition.
/// `time` runs a case and returns its time in seconds.
Estimate estimate(const std::vector<const Case *> &cases, double budget,
                  const std::function<double(const Case &)> &time);

/// "1,234 cases: 57 layers on 1 task, 5 seeds, 1,000 tuning trials"
std::string size_of(const std::vector<Case> &plan);

} // namespace recollect
