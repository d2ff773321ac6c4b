// SPDX-License-Identifier: Apache-2.0
// The kernel computes exp(x) as (x < 0 ? exp(x) : 0). A gate of 1 has x = log 1 = 0 and becomes 0.
#include "harness/check/remake.hpp"

namespace recollect::mistakes {

Mistake gate_of_one_taken_for_zero() {
  Mistake m;
  m.what = "a gate of exactly 1 counts as 0: its logarithm, 0, is treated as out of range";
  m.shows = "steps whose gate is exactly 1";
  m.reports = {"fla #104", "fla #389", "fla 4dc96875"};
  m.misread = [](const CheckCase &problem) {
    std::vector<Misread> all;
    for (Tensor gate : given_gates(problem))
      all.push_back(elementwise(
          problem, gate, std::string(name_of(gate)) + " counts as 0 where it is exactly 1",
          [](double x) { return x == 1 ? 0 : x; }, [](double x) { return x == 1 ? 0 : 1; }));
    return all;
  };
  return m;
}

} // namespace recollect::mistakes
