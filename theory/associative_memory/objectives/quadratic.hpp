// SPDX-License-Identifier: Apache-2.0
// Objectives of 000 §2.2. They are at most quadratic in S, so differences of their values give their gradients exactly.
#pragma once
#include "theory/support/differences.hpp"
#include "theory/support/stored.hpp"

namespace recollect::theory {
using Objective = std::function<double(const Dense &S)>;
/// S after one gradient step of size 1 on L.
inline Dense gradient_step(const Dense &S, const Objective &L) { return S - gradient(S, L); }

/// ||diag(sqrt(weights)) S||_F^2
inline double weighted_square(const Dense &S, const Vector &weights) {
  double sum = 0;
  for (int i = 0; i < S.rows; ++i) {
    const double *row = &S.data[size_t(i) * S.columns];
    sum += weights[i] * inner(row, row, S.columns);
  }
  return sum;
}
} // namespace recollect::theory
