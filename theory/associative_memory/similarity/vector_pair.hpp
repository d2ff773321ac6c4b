// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "theory/support/layer_points.hpp"

namespace recollect::theory {
/// Two vectors with the same squared norm and a given inner product.
struct VectorPair {
  Vector x, y;
};
inline VectorPair draw_pair(int d, double square, double product, std::uint64_t seed) {
  VectorPair pair{Stream(seed, "pair/x").normals(d), Stream(seed, "pair/y").normals(d)};
  const double leak = inner(pair.x, pair.y) / inner(pair.x, pair.x), cosine = product / square;
  for (int c = 0; c < d; ++c) pair.y[c] -= leak * pair.x[c];
  const double along = std::sqrt(square / inner(pair.x, pair.x)), across = std::sqrt(square / inner(pair.y, pair.y));
  for (int c = 0; c < d; ++c) {
    pair.x[c] *= along;
    pair.y[c] = cosine * pair.x[c] + std::sqrt(1 - cosine * cosine) * across * pair.y[c];
  }
  return pair;
}
} // namespace recollect::theory
