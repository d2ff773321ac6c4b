// SPDX-License-Identifier: Apache-2.0
// The kernel uses alpha_{t-1} or alpha_{t+1} instead of alpha_t.
#include "harness/check/remake.hpp"

namespace recollect::mistakes {

Mistake gate_one_step_off() {
  Mistake m;
  m.what = "a gate is one step late, or early";
  m.shows = "all steps after the first, where gates change from step to step";
  m.misread = [](const CheckCase &problem) {
    std::vector<Misread> all;
    for (Tensor gate : given_gates(problem)) {
      const std::string name = name_of(gate);
      const long T = problem.given.shape.T;
      all.push_back(gathered(
          problem, {name}, name + " is one step late",
          [](Place p) {
            return p.row ? Place{p.head, p.row - 1, p.column} : nowhere;
          },
          1));
      all.push_back(gathered(
          problem, {name}, name + " is one step early",
          [T](Place p) {
            return p.row + 1 < T ? Place{p.head, p.row + 1, p.column} : nowhere;
          },
          1));
    }
    return all;
  };
  return m;
}

} // namespace recollect::mistakes
