// SPDX-License-Identifier: Apache-2.0
// A gate of 0 has the logarithm -inf. The kernel replaces it by 0, so the gate becomes 1 and nothing decays.
#include "harness/check/remake.hpp"

namespace recollect::mistakes {

Mistake gate_of_zero_taken_for_one() {
  Mistake m;
  m.what = "a gate of exactly 0 counts as 1: its logarithm, -inf, is replaced by 0";
  m.shows = "steps whose gate is exactly 0, and all after them";
  m.misread = [](const CheckCase &problem) {
    std::vector<Misread> all;
    for (Tensor gate : given_gates(problem))
      all.push_back(elementwise(
          problem, gate, std::string(name_of(gate)) + " counts as 1 where it is exactly 0",
          [](double x) { return x == 0 ? 1 : x; }, [](double x) { return x == 0 ? 0 : 1; }));
    return all;
  };
  return m;
}

} // namespace recollect::mistakes
