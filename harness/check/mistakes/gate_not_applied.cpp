// SPDX-License-Identifier: Apache-2.0
// The kernel uses alpha_t = 1, or lambda_t = 1.
#include "harness/check/remake.hpp"

namespace recollect::mistakes {

Mistake gate_not_applied() {
  Mistake m;
  m.what = "a gate is not applied: nothing decays";
  m.shows = "all steps after the first, and an initial state";
  m.misread = [](const CheckCase &problem) {
    std::vector<Misread> all;
    for (Tensor gate : given_gates(problem))
      all.push_back(elementwise(
          problem, gate, std::string(name_of(gate)) + " is not applied", [](double) { return 1; },
          [](double) { return 0; }));
    return all;
  };
  return m;
}

} // namespace recollect::mistakes
