// SPDX-License-Identifier: Apache-2.0
// The optimum S* of 000 Eq 45 for k = Wk x and v = Wv x: the printed forms, and the least-squares solution on data.
#pragma once
#include "theory/support/layer_points.hpp"

namespace recollect::theory {
/// Fixed weights Wk [m,D], Wv [dv,D] and the second moment E[x x^T] of the inputs.
struct Layer {
  Dense Wk, Wv, moment;
};

/// A random second moment with a condition number of about 40.
inline Dense random_moment(int D, std::uint64_t seed) {
  const Dense root(D, D, Stream(seed, "optimum/moment").normals(D * D));
  return 1.0 / D * (root * transpose(root)) + 0.1 * Dense::identity(D);
}
/// Random weights. The rows of Wk are close to orthonormal. For a square Gaussian Wk, the square of the condition
/// number has no mean, and the rounding that a check must allow is proportional to it.
inline Layer random_layer(int D, int m, int dv, std::uint64_t seed) {
  const Dense draw(m, D, Stream(seed, "optimum/Wk").normals(m * D)),
      skew(m, m, Stream(seed, "optimum/skew").normals(m * m)), rows = inverse(cholesky(draw * transpose(draw))) * draw;
  return {(Dense::identity(m) + 0.25 / std::sqrt(m) * skew) * rows,
          Dense(dv, D, Stream(seed, "optimum/Wv").normals(dv * D)), random_moment(D, seed)};
}

/// (Wv E Wk^T)(Wk E Wk^T)^+, Eq 46, where E is the moment. The pseudo-inverse is the inverse if there is one.
inline Dense optimum_eq46(const Layer &l) {
  return l.Wv * l.moment * transpose(l.Wk) * pseudo_inverse(l.Wk * l.moment * transpose(l.Wk));
}
/// Wv E Wk^+ Wk E^{-1} Wk^+, Eq 48 as printed.
inline Dense optimum_eq48(const Layer &l) {
  const Dense plus = pseudo_inverse(l.Wk);
  return l.Wv * l.moment * plus * l.Wk * inverse(l.moment) * plus;
}

/// The S of least norm that minimises sum_i |S k_i - v_i|^2, by the singular values of the keys themselves.
inline Dense least_squares(const Dense &keys, const Dense &values) { return transpose(pseudo_inverse(keys) * values); }

/// Bound on the rounding difference between two of these forms, in units of eps: the bound for products over n rows,
/// times the squared condition number of the keys at this rank, which is the condition number of the normal equations.
inline double optimum_conditioning(const Dense &keys, const Dense &values, int rank) {
  const Vector s = singular_values(keys);
  return 4.0 * keys.rows * std::pow(s.front() / s[rank - 1], 2) * frobenius_norm(values) / s[rank - 1];
}
} // namespace recollect::theory
