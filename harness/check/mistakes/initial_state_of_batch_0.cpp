// SPDX-License-Identifier: Apache-2.0
// Every batch entry starts from the states of entry 0.
#include "harness/check/remake.hpp"

namespace recollect::mistakes {

Mistake initial_state_of_batch_0() {
  Mistake m;
  m.what = "every batch entry starts from the initial state of entry 0";
  m.shows = "batch entries from 1 on, where an initial state is given";
  m.misread = [](const CheckCase &problem) -> std::vector<Misread> {
    const long H = problem.given.shape.H;
    if (problem.given.state.empty() || problem.given.shape.B == 1) return {};
    return {gathered(problem, {"state"}, "every batch entry starts from the initial state of entry 0", [H](Place p) {
      return Place{p.head % H, p.row, p.column};
    })};
  };
  return m;
}

} // namespace recollect::mistakes
