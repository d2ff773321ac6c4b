// SPDX-License-Identifier: Apache-2.0
// The kernel uses alpha_t^2 instead of alpha_t.
#include "harness/check/remake.hpp"

namespace recollect::mistakes {

Mistake gate_applied_twice() {
  Mistake m;
  m.what = "a gate is applied twice";
  m.shows = "all steps after the first, where gates are neither 0 nor 1";
  m.misread = [](const CheckCase &problem) {
    std::vector<Misread> all;
    for (Tensor gate : given_gates(problem))
      all.push_back(elementwise(
          problem, gate, std::string(name_of(gate)) + " is applied twice", [](double x) { return x * x; },
          [](double x) { return 2 * x; }));
    return all;
  };
  return m;
}

} // namespace recollect::mistakes
