// SPDX-License-Identifier: Apache-2.0
// Weights of local polynomial regression (003 Eq 48-51): s_i = exp(-|k_i - q|^2 / B), mostly B = 2 sqrt(Dk).
#pragma once
#include "theory/support/measure.hpp"
#include "theory/support/one_head.hpp"
#include <numeric>

namespace recollect::theory {
/// s_1 ... s_t for the query of step t (counted from 0), at the bandwidth 2 sqrt(Dk) / sharpness.
inline Vector weights_at(const Sequence &s, int t, double sharpness = 1) {
  const int D = s.shape.Dk;
  Vector w;
  for (int i = 0; i <= t; ++i)
    w.push_back(std::exp(-sharpness * square(column(s.k, i, D) - column(s.q, t, D)) / (2 * std::sqrt(double(D)))));
  return w;
}

/// sum_i w_i row_i / sum_i w_i as a column.
inline Dense weighted_mean(const Dense &rows, const Vector &w) {
  Dense mean(rows.columns, 1);
  const double sum = std::accumulate(w.begin(), w.end(), 0.0);
  for (size_t i = 0; i < w.size(); ++i)
    for (int c = 0; c < rows.columns; ++c) mean.data[c] += w[i] / sum * rows(int(i), c);
  return mean;
}

/// Scales the queries by one factor and the keys by several factors in turn.
inline Sequence with_lengths(Sequence s, double query, const Vector &keys) {
  for (size_t i = 0; i < s.k.size(); ++i) s.q[i] *= query, s.k[i] *= keys[i / s.shape.Dk % keys.size()];
  return s;
}
} // namespace recollect::theory
