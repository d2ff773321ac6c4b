// SPDX-License-Identifier: Apache-2.0
// The last partial chunk starts from S = 0, every full chunk from the state before it.
#include "harness/check/remake.hpp"

namespace recollect::mistakes {

Mistake tail_without_state() {
  Mistake m;
  m.what = "the last partial chunk starts from a state of zeros";
  m.shows = "o in the last partial chunk, and the state";
  m.make = [](const CheckCase &problem, const PartList &right) {
    std::vector<Made> all;
    const Shape &n = problem.given.shape;
    if (!has_state(problem)) return all;
    for (int length : chunk_lengths(problem))
      if (n.T % length)
        all.push_back(
            {"the last partial chunk of " + std::to_string(length) + " starts from a state of zeros",
             [&problem, &right, &n, length] {
               const int begin = n.T / length * length;
               const StateShape size = problem.variant.state_shape(n, problem.params);
               const Output tail = outputs_of_steps(problem, {begin, n.T}, Numbers(n.heads() * size.size(), 0.0));
               const size_t count = size_t(n.T - begin) * size_t(n.Dv);
               return changed(right, {"o", "state"}, [&](Part &part) {
                 if (part.name == "state")
                   part.values = tail.state;
                 else
                   for (size_t head = 0; head < part.heads; ++head)
                     std::copy_n(&tail.o[head * count], count, row_of(part, head, size_t(begin)));
               });
             },
             nullptr});
    return all;
  };
  return m;
}

} // namespace recollect::mistakes
