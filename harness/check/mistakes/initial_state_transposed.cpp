// SPDX-License-Identifier: Apache-2.0
// The kernel starts from S_0^T instead of S_0.
#include "harness/check/remake.hpp"

namespace recollect::mistakes {

Mistake initial_state_transposed() {
  Mistake m;
  m.what = "the initial state is read transposed";
  m.shows = "o and the state, where an initial state is given and Dk = Dv";
  m.reports = {"fla #351", "sgl-kernel-npu #640"};
  m.misread = [](const CheckCase &problem) -> std::vector<Misread> {
    if (problem.given.state.empty() || !has_square_state(problem)) return {};
    return {gathered(problem, {"state"}, "the initial state is read transposed", [](Place p) {
      return Place{p.head, p.column, p.row};
    })};
  };
  return m;
}

} // namespace recollect::mistakes
