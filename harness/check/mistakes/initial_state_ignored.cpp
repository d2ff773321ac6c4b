// SPDX-License-Identifier: Apache-2.0
// The kernel starts from S_0 = 0.
#include "harness/check/remake.hpp"

namespace recollect::mistakes {

Mistake initial_state_ignored() {
  Mistake m;
  m.what = "the initial state is ignored";
  m.shows = "o and the state, where an initial state is given: errors are largest in the first steps";
  m.reports = {"vllm #22034", "sparkinfer #1071"};
  m.misread = [](const CheckCase &problem) -> std::vector<Misread> {
    if (problem.given.state.empty()) return {};
    return {gathered(problem, {"state"}, "the initial state is ignored", [](Place) { return nowhere; })};
  };
  return m;
}

} // namespace recollect::mistakes
