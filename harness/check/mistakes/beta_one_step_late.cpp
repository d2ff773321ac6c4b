// SPDX-License-Identifier: Apache-2.0
// The kernel uses beta_{t-1} instead of beta_t.
#include "harness/check/remake.hpp"

namespace recollect::mistakes {

Mistake beta_one_step_late() {
  Mistake m;
  m.what = "beta is one step late";
  m.shows = "every output, where beta changes from step to step";
  m.misread = [](const CheckCase &problem) -> std::vector<Misread> {
    if (!gives(problem, Tensor::beta)) return {};
    return {gathered(problem, {"beta"}, "beta is one step late", [](Place p) {
      return p.row ? Place{p.head, p.row - 1, p.column} : nowhere;
    })};
  };
  return m;
}

} // namespace recollect::mistakes
