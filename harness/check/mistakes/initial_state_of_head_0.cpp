// SPDX-License-Identifier: Apache-2.0
// Every head starts from the state of head 0.
#include "harness/check/remake.hpp"

namespace recollect::mistakes {

Mistake initial_state_of_head_0() {
  Mistake m;
  m.what = "every head starts from the initial state of head 0";
  m.shows = "heads from 1 on, where an initial state is given";
  m.misread = [](const CheckCase &problem) -> std::vector<Misread> {
    const long H = problem.given.shape.H;
    if (problem.given.state.empty() || H == 1) return {};
    return {gathered(problem, {"state"}, "every head starts from the initial state of head 0", [H](Place p) {
      return Place{p.head / H * H, p.row, p.column};
    })};
  };
  return m;
}

} // namespace recollect::mistakes
