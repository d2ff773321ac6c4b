// SPDX-License-Identifier: Apache-2.0
// Columns of dv from Dk on are 0, because the tile has Dk columns. Where Dk > Dv: columns of dq and dk from Dv on.
#include "harness/check/remake.hpp"

namespace recollect::mistakes {

Mistake value_gradient_of_key_width() {
  Mistake m;
  m.what = "columns of dv from Dk on are zero: the width of keys is taken for that of values";
  m.shows = "dv, where Dv is larger than Dk; dk and dq, where Dk is larger than Dv";
  m.reports = {"fla 1c403c3a", "fla #633"};
  m.make = [](const CheckCase &problem, const PartList &right) -> std::vector<Made> {
    const Shape &n = problem.given.shape;
    if (!problem.wants_gradient() || n.Dk == n.Dv) return {};
    const size_t width = size_t(n.Dk < n.Dv ? n.Dk : n.Dv);
    const std::vector<std::string> names =
        n.Dk < n.Dv ? std::vector<std::string>{"dv"} : std::vector<std::string>{"dq", "dk"};
    return {{"columns of " + std::string(n.Dk < n.Dv ? "dv from Dk" : "dq and dk from Dv") + " on are zero", nullptr,
             [&right, names, width] {
               return changed(right, names, [&](Part &part) {
                 for (size_t i = 0; i < part.values.size(); ++i)
                   if (i % part.columns >= width) part.values[i] = 0;
               });
             }}};
  };
  return m;
}

} // namespace recollect::mistakes
