// SPDX-License-Identifier: Apache-2.0
// Objectives of 000 §2.2 are at most quadratic in S: their gradients come from values alone.
#pragma once
#include "harness/numerics/linalg.hpp"

namespace recollect::theory {

/// dL/dS by central differences of step 1, which are exact for quadratics: only the rounding of L remains.
template <class Objective> Dense gradient(const Objective &L, const Dense &S) {
  Dense g(S.rows, S.columns), moved = S;
  for (size_t e = 0; e < S.data.size(); ++e) {
    moved.data[e] = S.data[e] + 1;
    const double up = L(moved);
    moved.data[e] = S.data[e] - 1;
    g.data[e] = (up - L(moved)) / 2;
    moved.data[e] = S.data[e];
  }
  return g;
}

/// ||diag(sqrt(weights)) S||_F^2
inline double weighted_square(const Dense &S, const std::vector<double> &weights) {
  double sum = 0;
  for (int i = 0; i < S.rows; ++i) {
    const double *row = &S.data[size_t(i) * S.columns];
    sum += weights[i] * inner(row, row, S.columns);
  }
  return sum;
}

} // namespace recollect::theory
