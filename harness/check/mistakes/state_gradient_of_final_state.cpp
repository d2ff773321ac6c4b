// SPDX-License-Identifier: Apache-2.0
// The gradient of the final state is returned as the gradient of the initial state.
#include "harness/check/remake.hpp"

namespace recollect::mistakes {

Mistake state_gradient_of_final_state() {
  Mistake m;
  m.what = "dstate is returned as it was given: the gradient of the final state, not of the initial state";
  m.shows = "dstate alone";
  m.reports = {"fla #1141"};
  m.make = [](const CheckCase &problem, const PartList &right) -> std::vector<Made> {
    if (!problem.wants_gradient() || problem.weights.state.empty()) return {};
    return {{"dstate is returned as it was given", nullptr,
             [&] { return changed(right, {"dstate"}, [&](Part &part) { part.values = problem.weights.state; }); }}};
  };
  return m;
}

} // namespace recollect::mistakes
