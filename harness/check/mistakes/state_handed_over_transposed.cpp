// SPDX-License-Identifier: Apache-2.0
// Every chunk but the first starts from S^T instead of S.
#include "harness/check/remake.hpp"

namespace recollect::mistakes {

Mistake state_handed_over_transposed() {
  Mistake m;
  m.what = "the state is stored transposed between chunks, or between prefill and decode";
  m.shows = "o from the second chunk on, and the state, where Dk = Dv";
  m.reports = {"sparkinfer #610", "sglang #40398", "ROCm/aiter #4057"};
  m.make = [](const CheckCase &problem, const PartList &) {
    std::vector<Made> all;
    if (!has_square_state(problem)) return all;
    const int size = problem.given.shape.Dk;
    for (int length : chunk_lengths(problem))
      all.push_back({"the state is handed over transposed between " + of_chunks(length),
                     [&problem, length, size] {
                       return forward_in_chunks(problem, length,
                                                [&](Numbers &state) { state = transposed(state, size); });
                     },
                     nullptr});
    return all;
  };
  return m;
}

} // namespace recollect::mistakes
