// SPDX-License-Identifier: Apache-2.0
// o_t = S_{t+1} q_t (or S_{t+2} q_t) instead of S_t q_t.
#include "harness/check/remake.hpp"
#include <algorithm>

namespace recollect::mistakes {

Mistake mask_off_by_one() {
  Mistake m;
  m.what = "the causal mask is off by one, or by more: o_t sees later steps";
  m.shows = "every output but the last";
  m.reports = {"flash-attention #436", "flash-attention #1778"};
  m.make = [](const CheckCase &problem, const PartList &right) {
    std::vector<Made> all;
    for (int steps : {1, 2})
      if (steps < problem.given.shape.T)
        all.push_back({"the mask is off by " + std::to_string(steps) + ": o_t sees step t + " + std::to_string(steps),
                       [&problem, &right, steps] {
                         return changed(right, {"o"}, [&](Part &o) {
                           o.values = read_at(problem, [&](int t) { return t + steps; });
                         });
                       },
                       nullptr});
    return all;
  };
  return m;
}

} // namespace recollect::mistakes
