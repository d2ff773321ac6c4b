// SPDX-License-Identifier: Apache-2.0
// Rows of o in the last partial chunk, or only the last row, are zero or never written.
#include "harness/check/remake.hpp"
#include <cmath>

namespace recollect::mistakes {

Mistake tail_not_written() {
  Mistake m;
  m.what = "the rows of the last partial chunk, or the last row, are not written";
  m.shows = "o in the last partial chunk, or in the last row: zeros, or whatever the allocator left (NaN)";
  m.reports = {"fla #892", "fla #1018"};
  m.make = [](const CheckCase &problem, const PartList &right) {
    std::vector<Made> all;
    const int T = problem.given.shape.T;
    const auto add = [&](int begin, const std::string &rows) {
      for (double value : {0.0, std::nan("")})
        all.push_back({(value == 0 ? "o is zero in " : "o is NaN, not written, in ") + rows,
                       [&right, begin, value, T] {
                         return changed(right, {"o"}, [&](Part &o) { fill_rows(o, size_t(begin), size_t(T), value); });
                       },
                       nullptr});
    };
    for (int length : chunk_lengths(problem))
      if (T % length) add(T / length * length, "the rows of the last partial chunk of " + std::to_string(length));
    add(T - 1, "the last row");
    return all;
  };
  return m;
}

} // namespace recollect::mistakes
