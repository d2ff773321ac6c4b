// SPDX-License-Identifier: Apache-2.0
// From some channel i on (such as 64), o_i and row i of the state are 0.
#include "harness/check/remake.hpp"
#include <cmath>

namespace recollect::mistakes {

Mistake value_channels_not_written() {
  Mistake m;
  m.what = "value channels from some multiple of a tile on are not computed";
  m.shows = "those channels of o and rows of the state, where Dv exceeds this multiple";
  m.reports = {"fla #1018", "fla-npu #477"};
  m.make = [](const CheckCase &problem, const PartList &right) {
    std::vector<Made> all;
    const size_t Dv = size_t(problem.given.shape.Dv);
    for (size_t width : {16, 32, 64, 128})
      if (width < Dv)
        all.push_back({"value channels from " + std::to_string(width) + " on are zero",
                       [&right, width, Dv] {
                         return changed(right, {"o", "state"}, [&](Part &part) {
                           for (size_t i = 0; i < part.values.size(); ++i) {
                             const size_t channel = part.over_steps ? i % part.columns : i / part.columns % part.rows;
                             if (channel >= width && channel < Dv) part.values[i] = 0;
                           }
                         });
                       },
                       nullptr});
    return all;
  };
  return m;
}

} // namespace recollect::mistakes
