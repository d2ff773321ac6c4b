// SPDX-License-Identifier: Apache-2.0
// Estimates the time of a plan before it starts.
#pragma once
#include "harness/run/plan.hpp"
#include <functional>

namespace recollect {

struct Estimate {
  double seconds = 0; // for all cases in sequence
  size_t tried = 0;   // cases that were timed
};

/// Times cases from the lightest to the heaviest for up to `budget` seconds, and assumes time = a + b work for the
/// remaining cases; work is the number of operations of the layer's definition. `time` runs a case and returns its
/// seconds.
Estimate estimate(const std::vector<const Case *> &cases, double budget,
                  const std::function<double(const Case &)> &time);

/// "1,234 cases: 57 layers on 1 task, 5 seeds and 20,000 tuning trials"
std::string size_of(const std::vector<Case> &plan);

} // namespace recollect
