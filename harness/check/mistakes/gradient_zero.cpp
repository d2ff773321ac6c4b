// SPDX-License-Identifier: Apache-2.0
// The kernel returns 0 instead of dx.
#include "harness/check/remake.hpp"

namespace recollect::mistakes {

Mistake gradient_zero() {
  Mistake m;
  m.what = "a gradient is zero, or all are";
  m.shows = "every element of the gradient";
  m.make = [](const CheckCase &, const PartList &right) { return scaled_gradients(right, 0, "", " is zero"); };
  return m;
}

} // namespace recollect::mistakes
