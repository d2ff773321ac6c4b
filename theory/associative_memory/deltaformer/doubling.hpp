// SPDX-License-Identifier: Apache-2.0
// (I + A)^{-1} of a strictly lower triangular A by repeated squaring (000 Eq 98-100).
#pragma once
#include "theory/support/layer_points.hpp"

namespace recollect::theory {
inline int ceil_log2(int n) {
  int bits = 0;
  while ((1 << bits) < n) ++bits;
  return bits;
}
inline int floor_log2(int n) {
  int bits = 0;
  while ((2 << bits) <= n) ++bits;
  return bits;
}

/// Strictly lower [C,C]: 0.9 on the first subdiagonal, so that A^{C-1} is not 0, and noise of size 1/C below it.
inline Dense dense_lower(int C, std::uint64_t seed) {
  Dense A(C, C);
  const Stream draw(seed, "doubling/lower");
  for (int t = 0; t < C; ++t)
    for (int i = 0; i < t; ++i) A(t, i) = (2 * draw.uniform(size_t(t) * C + i) - 1) / (4 * C) + (i + 1 == t ? 0.9 : 0);
  return A;
}

struct Doubled {
  Dense X;
  int products = 0;         // number of products of C x C matrices
  double largest_power = 0; // the largest entry of any power of A that was formed
};

/// Eq 100: X_0 = I - A, Y_0 = A^2; X_i = X_{i-1} + X_{i-1} Y_{i-1}, Y_i = Y_{i-1}^2. The last Y is not computed.
inline Doubled doubling(const Dense &A, int iterations) {
  Doubled r{Dense::identity(A.rows) - A};
  Dense Y = A;
  for (int i = 0; i < iterations; ++i) {
    Y = Y * Y;
    r.X = r.X + r.X * Y;
    r.products += 2;
    r.largest_power = std::max(r.largest_power, max_abs(Y.data));
  }
  return r;
}
} // namespace recollect::theory
