// SPDX-License-Identifier: Apache-2.0
// The kernel writes the outputs of head h where those of head h + 1 or h - 1 belong, or writes the heads in reverse
// order.
#include "harness/check/remake.hpp"

namespace recollect::mistakes {

Mistake heads_permuted() {
  Mistake m;
  m.what = "heads are written in the wrong order";
  m.shows = "o, or o and the state, where H is more than 1";
  m.make = [](const CheckCase &problem, const PartList &right) {
    std::vector<Made> all;
    const size_t H = size_t(problem.given.shape.H);
    if (H == 1) return all;
    for (bool states : {false, true})
      for (size_t step : {size_t(1), H - 1, size_t(0)}) // 0: in reverse
        all.push_back({std::string(states ? "o and the states of heads are" : "o of heads is") + " written " +
                           (step == 0 ? "in reverse order" : "where head h + " + std::to_string(step) + " belongs"),
                       [&right, H, states, step] {
                         const std::vector<std::string> both{"o", "state"}, one{"o"};
                         return changed(right, states ? both : one, [&](Part &part) {
                           const Part own = part;
                           const size_t size = own.rows * own.columns;
                           for (size_t head = 0; head < own.heads; ++head) {
                             const size_t h = head % H, to = head - h + (step ? (h + step) % H : H - 1 - h);
                             std::copy_n(&own.values[head * size], size, &part.values[to * size]);
                           }
                         });
                       },
                       nullptr});
    return all;
  };
  return m;
}

} // namespace recollect::mistakes
