// SPDX-License-Identifier: Apache-2.0
// The kernel returns dS_0^T instead of dS_0.
#include "harness/check/remake.hpp"

namespace recollect::mistakes {

Mistake state_gradient_transposed() {
  Mistake m;
  m.what = "the gradient of the initial state is returned transposed";
  m.shows = "dstate alone, where Dk = Dv";
  m.make = [](const CheckCase &problem, const PartList &right) -> std::vector<Made> {
    if (!problem.wants_gradient() || !has_square_state(problem)) return {};
    return {{"the gradient of the initial state is returned transposed", nullptr, [&] {
               return changed(right, {"dstate"},
                              [&](Part &part) { part.values = transposed(part.values, problem.given.shape.Dk); });
             }}};
  };
  return m;
}

} // namespace recollect::mistakes
