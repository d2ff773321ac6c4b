// SPDX-License-Identifier: Apache-2.0
// The kernel uses do = 1 or do = 0 instead of the given do.
#include "harness/check/remake.hpp"

namespace recollect::mistakes {

Mistake upstream_gradient_ignored() {
  Mistake m;
  m.what = "the incoming gradient is ignored: do counts as 1, or as 0";
  m.shows = "every gradient";
  m.reports = {"fla #963"};
  m.make = [](const CheckCase &problem, const PartList &) {
    std::vector<Made> all;
    if (!problem.wants_gradient()) return all;
    for (double value : {1.0, 0.0})
      all.push_back(
          {value == 1 ? "do counts as 1" : "do is ignored", nullptr, [&problem, value] {
             return gradients_with(problem, {Numbers(problem.weights.o.size(), value), problem.weights.state});
           }});
    return all;
  };
  return m;
}

} // namespace recollect::mistakes
