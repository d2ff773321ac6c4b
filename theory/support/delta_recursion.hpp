// SPDX-License-Identifier: Apache-2.0
// The delta rule with a similarity, as the two sums of 000 Eq 41-42, in dense host algebra: a reference that shares no
// code with variants/. A similarity is a function of the inner product.
//
//   A1[t,i] = kappa1(k_i . w_t), i < t     U = V - A1 U (forward substitution, Eq 96)
//   A2[t,i] = kappa2(k_i . q_t), i <= t    O = A2 U
#pragma once
#include "harness/core/types.hpp"
#include "harness/numerics/linalg.hpp"
#include <algorithm>
#include <cmath>
#include <functional>

namespace recollect::theory {
using Kernel = std::function<double(double)>;
enum class Triangle { strict, with_diagonal };

/// M[t,i] = kernel(keys_i . queries_t) on the lower triangle, zero above: [T,T] from two [T,d].
inline Dense causal_weights(const Dense &keys, const Dense &queries, const Kernel &kernel, Triangle triangle) {
  Dense M = queries * transpose(keys);
  for (int t = 0; t < M.rows; ++t)
    for (int i = 0; i < M.columns; ++i)
      M(t, i) = i < t || (i == t && triangle == Triangle::with_diagonal) ? kernel(M(t, i)) : 0;
  return M;
}

/// Row t of M times factors[t].
inline Dense scale_rows(Dense M, const std::vector<double> &factors) {
  for (int t = 0; t < M.rows; ++t)
    for (int c = 0; c < M.columns; ++c) M(t, c) *= factors[t];
  return M;
}

/// Each row divided by its sum; a row of zeros stays zero.
inline Dense normalise_sums(Dense M) {
  for (int t = 0; t < M.rows; ++t) {
    double sum = 0;
    for (int c = 0; c < M.columns; ++c) sum += M(t, c);
    for (int c = 0; c < M.columns && sum != 0; ++c) M(t, c) /= sum;
  }
  return M;
}

/// One head's [T,width] block of a [B,H,T,width] array.
inline Dense head_rows(const std::vector<double> &array, const Shape &shape, size_t head, int width) {
  const auto begin = array.begin() + head * shape.T * width;
  return Dense(shape.T, width, std::vector<double>(begin, begin + size_t(shape.T) * width));
}

/// Keys, queries and values of the first head.
struct Rows {
  Dense k, q, v;
  explicit Rows(const Sequence &s)
      : k(head_rows(s.k, s.shape, 0, s.shape.Dk)), q(head_rows(s.q, s.shape, 0, s.shape.Dk)),
        v(head_rows(s.v, s.shape, 0, s.shape.Dv)) {}
};

inline double linear_kernel(double x) { return x; }
inline double exp_kernel(double x) { return std::exp(x); }
inline double round_kernel(double x) { return std::nearbyint(x); } // rounds ties to even
} // namespace recollect::theory
