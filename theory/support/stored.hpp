// SPDX-License-Identifier: Apache-2.0
// Sequences that store pairs in many heads at once, and the norms of the resulting states.
#pragma once
#include "harness/numerics/inputs.hpp"
#include "harness/numerics/linalg.hpp"
#include "theory/support/measure.hpp"

namespace recollect::theory {
/// A sequence with these keys and values, q = k, and the same beta at every step.
inline Sequence stored(const Shape &shape, const Vector &keys, const Vector &values, double beta = 1) {
  Sequence s = of_shape(shape);
  s.q = s.k = keys, s.v = values, s.beta.assign(shape.heads() * shape.T, beta);
  return s;
}

/// n random unit vectors, as rows [n,d].
inline Vector random_units(size_t n, int d, const Stream &stream, std::uint64_t first = 0) {
  Vector rows = stream.normals(n * d, first * d);
  normalise_rows(rows, d);
  return rows;
}
inline Vector repeated(const Vector &rows, size_t times) {
  Vector all;
  for (size_t i = 0; i < times; ++i) all.insert(all.end(), rows.begin(), rows.end());
  return all;
}

/// The sum of squares of the first `numbers` numbers in the state of each head, over `divisor`.
inline Vector state_squares(const Vector &state, size_t heads, int numbers, double divisor = 1) {
  Vector squares;
  for (size_t b = 0; b < heads; ++b) {
    const double *own = &state[b * (state.size() / heads)];
    squares.push_back(recollect::inner(own, own, numbers) / divisor);
  }
  return squares;
}
} // namespace recollect::theory
