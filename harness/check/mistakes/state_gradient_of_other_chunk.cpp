// SPDX-License-Identifier: Apache-2.0
// A chunk uses the gradient of the state, dS, that belongs to the next chunk.
#include "harness/check/remake.hpp"
#include <utility>

namespace recollect::mistakes {

Mistake state_gradient_of_other_chunk() {
  Mistake m;
  m.what = "a chunk uses the next chunk's gradient of the state";
  m.shows = "every gradient but dq, before the last two chunks";
  m.reports = {"mlstm_kernels #10"};
  m.make = [](const CheckCase &problem, const PartList &) {
    std::vector<Made> all;
    if (!problem.wants_gradient() || !has_state(problem)) return all;
    for (int length : chunk_lengths(problem))
      all.push_back({"chunks of " + std::to_string(length) + " use the next chunk's gradient of the state", nullptr,
                     [&problem, length] {
                       Numbers after = problem.weights.state;
                       return backward_in_chunks(problem, length, [&](Numbers &dstate) {
                         if (after.empty()) after.assign(dstate.size(), 0.0);
                         std::swap(after, dstate);
                       });
                     }});
    return all;
  };
  return m;
}

} // namespace recollect::mistakes
