// SPDX-License-Identifier: Apache-2.0
// One step's Jacobian J = I - a k^T of 004 Eq 14, for unit a (write direction) and k (key) with c = a . k. Its singular
// values are (sqrt(5 - 4c) + 1) / 2, 1 (d - 2 times) and |sqrt(5 - 4c) - 1| / 2: the squares of the outer two sum to
// 3 - 2c and their product is 1 - c.
#pragma once
#include "theory/variational/vla_steps.hpp"

namespace recollect::theory {

inline double largest_stretch(double c) { return (std::sqrt(5 - 4 * c) + 1) / 2; }
const double golden_ratio = largest_stretch(0);

struct UnitPair {
  Vector a, k;
};
/// Unit a and k with a . k = c in a random orientation of R^d, d >= 2: draw `index`.
inline UnitPair unit_pair(int d, double c, const Stream &stream, std::uint64_t index) {
  const Vector k = random_unit(d, stream, 2 * index);
  Vector side = random_unit(d, stream, 2 * index + 1);
  for (int pass = 0; pass < 2; ++pass) side = unit(combine(1, side, -inner(side, k), k)); // twice: the first may cancel
  return {combine(c, k, std::sqrt(1 - c * c), side), k};
}

/// Rounding of d-term products and of the singular values of a matrix of norm <= 2.
inline double jacobian_units(int d) { return 16.0 * d; }

} // namespace recollect::theory
