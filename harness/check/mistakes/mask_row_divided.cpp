// SPDX-License-Identifier: Apache-2.0
// o_t = S_{t/r} q_t: the kernel divides the row number of the query by r, as if every r consecutive rows held the
// queries of r heads at one step.
#include "harness/check/remake.hpp"

namespace recollect::mistakes {

Mistake mask_row_divided() {
  Mistake m;
  m.what = "o_t sees steps up to t / r only: rows are treated as if r heads were packed into them";
  m.shows = "every output but the first";
  m.reports = {"flash-attention #2528"};
  m.make = [](const CheckCase &problem, const PartList &right) {
    std::vector<Made> all;
    for (int group : {2, 4})
      if (problem.given.shape.T > 1)
        all.push_back({"o_t sees steps up to t / " + std::to_string(group) + " only",
                       [&problem, &right, group] {
                         return changed(right, {"o"}, [&](Part &o) {
                           o.values = read_at(problem, [&](int t) { return t / group; });
                         });
                       },
                       nullptr});
    return all;
  };
  return m;
}

} // namespace recollect::mistakes
