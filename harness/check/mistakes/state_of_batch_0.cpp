// SPDX-License-Identifier: Apache-2.0
// Every batch entry returns the final states of entry 0, or every head returns the final state of head 0.
#include "harness/check/remake.hpp"

namespace recollect::mistakes {

Mistake state_of_batch_0() {
  Mistake m;
  m.what = "the states of batch entry 0, or of head 0, are returned for all";
  m.shows = "the state alone, of batch entries or heads from 1 on";
  m.make = [](const CheckCase &problem, const PartList &right) {
    std::vector<Made> all;
    const size_t H = size_t(problem.given.shape.H);
    const auto add = [&](const std::string &what, const std::function<size_t(size_t)> &source) {
      all.push_back({what,
                     [&right, source] {
                       return changed(right, {"state"}, [&](Part &state) {
                         const Part own = state;
                         const size_t size = own.rows * own.columns;
                         for (size_t i = 0; i < own.values.size(); ++i)
                           state.values[i] = own.values[source(i / size) * size + i % size];
                       });
                     },
                     nullptr});
    };
    if (problem.given.shape.B > 1)
      add("the states of batch entry 0 are returned for all", [H](size_t head) { return head % H; });
    if (H > 1) add("the state of head 0 is returned for all", [H](size_t head) { return head / H * H; });
    return all;
  };
  return m;
}

} // namespace recollect::mistakes
