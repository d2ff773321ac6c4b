// SPDX-License-Identifier: Apache-2.0
// The Jacobian of one step, J = I - a k^T of 004 Eq 14, for a unit write direction a and a unit key k, with c = a . k.
// Its singular values are (sqrt(5 - 4c) + 1) / 2, 1 (d - 2 times) and |sqrt(5 - 4c) - 1| / 2. The squares of the
// largest and the smallest sum to 3 - 2c, and their product is 1 - c.
#pragma once
#include "theory/variational/vla_steps.hpp"

namespace recollect::theory {
/// The largest singular value of J for a and k with |a||k| = length; here c is a.k. The product of the largest and the
/// smallest singular value is |1 - c|, and their squares sum to 2 - 2 c + length^2; hence they are (sqrt(length^2 + 4 -
/// 4 c) +- length) / 2.
inline double largest_stretch(double c, double length = 1) {
  return (std::sqrt(length * length + 4 - 4 * c) + length) / 2;
}
const double golden_ratio = largest_stretch(0);

struct UnitPair {
  Vector a, k;
};
/// Draw number `index` of the stream: unit vectors a and k in R^d, d >= 2, with a . k = c and a random orientation.
inline UnitPair unit_pair(int d, double c, const Stream &stream, std::uint64_t index) {
  const Vector k = random_unit(d, stream, 2 * index);
  Vector side = random_unit(d, stream, 2 * index + 1);
  for (int pass = 0; pass < 2; ++pass)
    side = unit(combine(1, side, -inner(side, k), k)); // twice, because the first subtraction may cancel digits
  return {combine(c, k, std::sqrt(1 - c * c), side), k};
}

/// Rounding error, in units of eps, of products with d terms and of the singular values of a matrix of norm <= 2.
inline double jacobian_units(int d) { return 16.0 * d; }

/// The inputs of one run as rows [T,d]: unit keys, penalty directions and, for a rival layer, write directions.
struct Inputs {
  int d;
  Vector keys, penalties, writes; // empty: VLA's own write directions, along A_t k_t
  int steps() const { return int(keys.size()) / d; }
  Vector key(int t) const { return row(keys, t, d); }
  Vector penalty(int t) const { return row(penalties, t, d); }
};

struct Growth {
  Vector steps, chains;    // |J_t| and |P_t| of the layer
  Vector angles;           // (1 + sqrt(5 - 4 a_t.k_t)) / 2 by dense algebra
  double over_ceiling = 0; // largest |P_t| / sqrt(det M_t / det M_0)
};

inline Growth growth_of(const Inputs &x, double lambda0) {
  Growth g;
  Vla layer(x.d, 1, lambda0);
  VlaAlgebra algebra(x.d, 1, lambda0);
  Dense product = Dense::identity(x.d);
  double log_determinant = 0; // log det(M_t / lambda0)
  for (int t = 0; t < x.steps(); ++t) {
    const Vector k = x.key(t), u = x.penalty(t);
    log_determinant += std::log1p(inner(u, times(inverse(algebra.M), u)));
    algebra.step(k, u, {0.0});
    layer.chain = Dense::identity(x.d);
    layer.step(k, u, {0.0});
    const Dense J = x.writes.empty() ? layer.chain : vla_jacobian_of(row(x.writes, t, x.d), k);
    product = J * product;
    g.steps.push_back(spectral_norm(J)), g.chains.push_back(spectral_norm(product));
    g.angles.push_back(largest_stretch(inner(algebra.a, k)));
    g.over_ceiling = std::max(g.over_ceiling, g.chains.back() / std::exp(log_determinant / 2));
  }
  return g;
}
} // namespace recollect::theory
