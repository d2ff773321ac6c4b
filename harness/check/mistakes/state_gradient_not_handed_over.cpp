// SPDX-License-Identifier: Apache-2.0
// dS = 0 at the end of every chunk but the last.
#include "harness/check/remake.hpp"
#include <algorithm>

namespace recollect::mistakes {

Mistake state_gradient_not_handed_over() {
  Mistake m;
  m.what = "the gradient of the state is not handed back from chunk to chunk";
  m.shows = "every gradient but dq, before the last chunk";
  m.make = [](const CheckCase &problem, const PartList &) {
    std::vector<Made> all;
    if (!problem.wants_gradient() || !has_state(problem)) return all;
    for (int length : chunk_lengths(problem))
      all.push_back(
          {"the gradient of the state is not handed back between " + of_chunks(length), nullptr, [&problem, length] {
             return backward_in_chunks(problem, length,
                                       [](Numbers &dstate) { std::fill(dstate.begin(), dstate.end(), 0.0); });
           }});
    return all;
  };
  return m;
}

} // namespace recollect::mistakes
