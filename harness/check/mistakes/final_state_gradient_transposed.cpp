// SPDX-License-Identifier: Apache-2.0
// The backward pass starts from dstate^T instead of dstate.
#include "harness/check/remake.hpp"

namespace recollect::mistakes {

Mistake final_state_gradient_transposed() {
  Mistake m;
  m.what = "the gradient of the final state is read transposed";
  m.shows = "every gradient but dq, where dstate is given and Dk = Dv";
  m.make = [](const CheckCase &problem, const PartList &) -> std::vector<Made> {
    if (!problem.wants_gradient() || problem.weights.state.empty() || !has_square_state(problem)) return {};
    return {{"the gradient of the final state is read transposed", nullptr, [&] {
               return gradients_with(problem,
                                     {problem.weights.o, transposed(problem.weights.state, problem.given.shape.Dk)});
             }}};
  };
  return m;
}

} // namespace recollect::mistakes
