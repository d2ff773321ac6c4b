// SPDX-License-Identifier: Apache-2.0
// Rows of dx in the last partial chunk, or only the last row, are zero or never written.
#include "harness/check/remake.hpp"
#include <cmath>

namespace recollect::mistakes {

Mistake gradient_tail_not_written() {
  Mistake m;
  m.what = "gradients of the last partial chunk, or of the last row, are not written";
  m.shows =
      "the gradients' rows of the last partial chunk, or the last row: zeros, or whatever the allocator left (NaN)";
  m.reports = {"fla #892"};
  m.make = [](const CheckCase &problem, const PartList &right) {
    std::vector<Made> all;
    if (!problem.wants_gradient()) return all;
    const int T = problem.given.shape.T;
    std::vector<std::string> over_steps, keys{"dk", "dv"};
    for (const std::string &name : gradient_names(right))
      if (name != "dstate") over_steps.push_back(name);
    const auto add = [&](int begin, const std::string &rows) {
      for (double value : {0.0, std::nan("")})
        for (const auto &parts : {over_steps, keys})
          all.push_back({std::string(parts == keys ? "dk and dv are " : "the gradients are ") +
                             (value == 0 ? "zero in " : "NaN, not written, in ") + rows,
                         nullptr, [&right, begin, value, T, parts] {
                           return changed(right, parts,
                                          [&](Part &part) { fill_rows(part, size_t(begin), size_t(T), value); });
                         }});
    };
    for (int length : chunk_lengths(problem))
      if (T % length) add(T / length * length, "the rows of the last partial chunk of " + std::to_string(length));
    add(T - 1, "the last row");
    return all;
  };
  return m;
}

} // namespace recollect::mistakes
