// SPDX-License-Identifier: Apache-2.0
// How long a plan will take, before it is begun.
#pragma once
#include "harness/run/plan.hpp"
#include <functional>

namespace recollect {

struct Estimate {
  double seconds = 0; // of all cases, one after the other
  size_t tried = 0;   // cases that were run to find out
};

/// Times some of the cases, from the lightest to the heaviest as far as `budget` seconds go, and takes time = a + b work for
/// the others, work being the operations of the layer's definition. `time` runs a case and returns its seconds.
Estimate estimate(const std::vector<const Case *> &cases, double budget,
                  const std::function<double(const Case &)> &time);

/// "1,234 cases: 57 layers on 1 task, 5 seeds and 20,000 tuning trials"
std::string size_of(const std::vector<Case> &plan);

} // namespace recollect
