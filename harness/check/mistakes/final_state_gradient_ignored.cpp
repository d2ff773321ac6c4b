// SPDX-License-Identifier: Apache-2.0
// The backward pass starts from a zero gradient of the final state instead of the given dstate.
#include "harness/check/remake.hpp"

namespace recollect::mistakes {

Mistake final_state_gradient_ignored() {
  Mistake m;
  m.what = "the gradient of the final state is ignored";
  m.shows = "every gradient but dq, where dstate is given: errors are largest in the last steps";
  m.make = [](const CheckCase &problem, const PartList &) -> std::vector<Made> {
    if (!problem.wants_gradient() || problem.weights.state.empty()) return {};
    return {{"the gradient of the final state is ignored", nullptr, [&] {
               return gradients_with(problem, {problem.weights.o, {}});
             }}};
  };
  return m;
}

} // namespace recollect::mistakes
