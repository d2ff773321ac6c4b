// SPDX-License-Identifier: Apache-2.0
// The kernel uses beta_t^2 instead of beta_t.
#include "harness/check/remake.hpp"

namespace recollect::mistakes {

Mistake beta_applied_twice() {
  Mistake m;
  m.what = "beta is applied twice";
  m.shows = "every output, where beta is neither 0 nor 1";
  m.misread = [](const CheckCase &problem) -> std::vector<Misread> {
    if (!gives(problem, Tensor::beta)) return {};
    return {elementwise(
        problem, Tensor::beta, "beta is applied twice", [](double x) { return x * x; },
        [](double x) { return 2 * x; })};
  };
  return m;
}

} // namespace recollect::mistakes
