// SPDX-License-Identifier: Apache-2.0
// The backward pass uses do_T, and 0 instead of do_t for t < T.
#include "harness/check/remake.hpp"

namespace recollect::mistakes {

Mistake output_gradient_of_last_step() {
  Mistake m;
  m.what = "only the last step's do is used";
  m.shows = "every gradient, where T is more than 1";
  m.make = [](const CheckCase &problem, const PartList &) -> std::vector<Made> {
    const size_t T = size_t(problem.given.shape.T), Dv = size_t(problem.given.shape.Dv);
    if (!problem.wants_gradient() || T == 1) return {};
    return {{"only the last step's do is used", nullptr, [&problem, T, Dv] {
               OutputWeights last = problem.weights;
               for (size_t i = 0; i < last.o.size(); ++i)
                 if (i / Dv % T + 1 != T) last.o[i] = 0;
               return gradients_with(problem, last);
             }}};
  };
  return m;
}

} // namespace recollect::mistakes
