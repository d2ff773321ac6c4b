// SPDX-License-Identifier: Apache-2.0
// o_t = S_{t/r} q_t: the row counts queries of r heads packed together, which were not packed
#include "harness/check/remake.hpp"

namespace recollect::mistakes {

Mistake mask_row_divided() {
  Mistake m;
  m.what = "the causal limit of step t is t / r: rows are taken for those of r heads packed together";
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
