// SPDX-License-Identifier: Apache-2.0
// The state after the last full chunk of C steps, S at step floor(T / C) C, is returned as the final state.
#include "harness/check/remake.hpp"

namespace recollect::mistakes {

Mistake state_of_last_full_chunk() {
  Mistake m;
  m.what = "the state returned is that after the last full chunk";
  m.shows = "the state, where T is no multiple of the chunk length";
  m.reports = {"sglang #31833", "sglang #33450"};
  m.make = [](const CheckCase &problem, const PartList &right) {
    std::vector<Made> all;
    const int T = problem.given.shape.T;
    for (int length : chunk_lengths(problem))
      if (T % length && has_state(problem))
        all.push_back({"the state returned is that after the last full chunk of " + std::to_string(length),
                       [&problem, &right, length] {
                         return changed(right, {"state"},
                                        [&](Part &state) { state.values = chunk_states(problem, length).back(); });
                       },
                       nullptr});
    return all;
  };
  return m;
}

} // namespace recollect::mistakes
