// SPDX-License-Identifier: Apache-2.0
// The kernel returns -dx instead of dx.
#include "harness/check/remake.hpp"

namespace recollect::mistakes {

Mistake gradient_sign_turned() {
  Mistake m;
  m.what = "the sign of one gradient, or of all gradients, is wrong";
  m.shows = "every element of the gradient";
  m.reports = {"fla 7362d874"};
  m.make = [](const CheckCase &, const PartList &right) {
    return scaled_gradients(right, -1, "the sign of ", " is wrong");
  };
  return m;
}

} // namespace recollect::mistakes
