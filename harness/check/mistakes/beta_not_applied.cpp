// SPDX-License-Identifier: Apache-2.0
// The kernel uses beta_t = 1.
#include "harness/check/remake.hpp"

namespace recollect::mistakes {

Mistake beta_not_applied() {
  Mistake m;
  m.what = "beta is not applied";
  m.shows = "every output, where beta is not 1";
  m.misread = [](const CheckCase &problem) -> std::vector<Misread> {
    if (!gives(problem, Tensor::beta)) return {};
    return {elementwise(
        problem, Tensor::beta, "beta is not applied", [](double) { return 1; }, [](double) { return 0; })};
  };
  return m;
}

} // namespace recollect::mistakes
