// SPDX-License-Identifier: Apache-2.0
// The kernel returns dx sqrt(Dk) or dx / sqrt(Dk) instead of dx.
#include "harness/check/remake.hpp"
#include <cmath>

namespace recollect::mistakes {

Mistake gradient_scale_wrong() {
  Mistake m;
  m.what = "the scale of the scores is missing in a gradient, or applied twice";
  m.shows = "every element of the gradient";
  m.make = [](const CheckCase &problem, const PartList &right) {
    const double root = std::sqrt(double(problem.given.shape.Dk));
    std::vector<Made> all = scaled_gradients(right, root, "", " is too large by the factor sqrt(Dk)");
    for (const Made &made : scaled_gradients(right, 1 / root, "", " is too small by the factor sqrt(Dk)"))
      all.push_back(made);
    return all;
  };
  return m;
}

} // namespace recollect::mistakes
