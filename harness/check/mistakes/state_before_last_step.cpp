// SPDX-License-Identifier: Apache-2.0
// The kernel returns S_{T-1} as the final state.
#include "harness/check/remake.hpp"

namespace recollect::mistakes {

Mistake state_before_last_step() {
  Mistake m;
  m.what = "the state returned is that before the last step";
  m.shows = "the state alone";
  m.make = [](const CheckCase &problem, const PartList &right) -> std::vector<Made> {
    const int T = problem.given.shape.T;
    if (T == 1 || !has_state(problem)) return {};
    return {{"the state returned is that after T - 1 steps",
             [&problem, &right, T] {
               return changed(right, {"state"}, [&](Part &state) {
                 state.values = outputs_of_steps(problem, {0, T - 1}, problem.given.state).state;
               });
             },
             nullptr}};
  };
  return m;
}

} // namespace recollect::mistakes
