// SPDX-License-Identifier: Apache-2.0
// Gradients computed from values of a loss, so that no gradient formula of the paper under test is used.
#pragma once
#include "harness/numerics/linalg.hpp"

namespace recollect::theory {
/// Gradient of a quadratic loss by differences of width 1. They are exact up to the rounding of the losses.
template <class Loss> Dense gradient(const Dense &M, const Loss &loss) {
  Dense g(M.rows, M.columns);
  for (size_t i = 0; i < M.data.size(); ++i) {
    Dense up = M, down = M;
    up.data[i] += 1, down.data[i] -= 1;
    g.data[i] = (loss(up) - loss(down)) / 2;
  }
  return g;
}
} // namespace recollect::theory
