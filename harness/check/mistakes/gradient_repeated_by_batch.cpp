// SPDX-License-Identifier: Apache-2.0
// The gradient is added once for every batch entry: B dx instead of dx.
#include "harness/check/remake.hpp"

namespace recollect::mistakes {

Mistake gradient_repeated_by_batch() {
  Mistake m;
  m.what = "a gradient is added once for every batch entry: B times too large";
  m.shows = "every element of the gradient, where B is more than 1";
  m.reports = {"fla #955"};
  m.make = [](const CheckCase &problem, const PartList &right) -> std::vector<Made> {
    if (problem.given.shape.B == 1) return {};
    return scaled_gradients(right, problem.given.shape.B, "", " is B times too large");
  };
  return m;
}

} // namespace recollect::mistakes
