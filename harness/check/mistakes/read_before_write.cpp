// SPDX-License-Identifier: Apache-2.0
// o_t = S_{t-1} q_t instead of S_t q_t.
#include "harness/check/remake.hpp"

namespace recollect::mistakes {

Mistake read_before_write() {
  Mistake m;
  m.what = "the read comes before the write: o_t does not see step t";
  m.shows = "every output";
  m.make = [](const CheckCase &problem, const PartList &right) -> std::vector<Made> {
    return {{"the read comes before the write: o_t sees steps before t only",
             [&] {
               return changed(right, {"o"}, [&](Part &o) {
                 CheckCase before = padded(problem, 1, 0); // adds a zero step in front, so that o_1 can read S_0
                 o.values = read_at(before, [](int t) { return t - 1; });
                 const Shape &n = problem.given.shape;
                 const size_t row = size_t(n.Dv), rows = size_t(n.T) * row;
                 Numbers kept;
                 for (size_t head = 0; head < n.heads(); ++head) {
                   const auto first = o.values.begin() + std::ptrdiff_t(head * (rows + row) + row);
                   kept.insert(kept.end(), first, first + std::ptrdiff_t(rows));
                 }
                 o.values = kept;
               });
             },
             nullptr}};
  };
  return m;
}

} // namespace recollect::mistakes
