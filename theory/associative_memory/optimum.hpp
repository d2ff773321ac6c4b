// SPDX-License-Identifier: Apache-2.0
// The optimum S* of 000 Eq 45 for v = Wv x, k = Wk x, in its printed forms, and the least-squares solution on data.
#pragma once
#include "harness/numerics/linalg.hpp"
#include "harness/numerics/random.hpp"
#include <cmath>

namespace recollect::theory {

/// Fixed weights and a data distribution x ~ N(0, moment): Wk [m,D], Wv [dv,D].
struct Layer {
  Dense Wk, Wv, moment;
};

/// Random weights and second moment. Wk is a little off m orthonormal rows, because the rounding that a check must
/// allow goes with the square of its condition number, and that of a square Gaussian matrix has no mean.
inline Layer random_layer(int D, int m, int dv, std::uint64_t seed) {
  const Dense root(D, D, Stream(seed, 143).normals(D * D)), draw(m, D, Stream(seed, 141).normals(m * D)),
      skew(m, m, Stream(seed, 186).normals(m * m)), rows = inverse(cholesky(draw * transpose(draw))) * draw;
  return {(Dense::identity(m) + 0.25 / std::sqrt(m) * skew) * rows, Dense(dv, D, Stream(seed, 142).normals(dv * D)),
          1.0 / D * (root * transpose(root)) + 0.1 * Dense::identity(D)};
}

/// n rows x^T of N(0, moment).
inline Dense draw_inputs(const Dense &moment, int n, std::uint64_t seed) {
  return Dense(n, moment.rows, Stream(seed, 144).normals(size_t(n) * moment.rows)) * transpose(cholesky(moment));
}

/// (Wv E Wk^T)(Wk E Wk^T)^+, Eq 46; the pseudo-inverse is the inverse where there is one.
inline Dense optimum_eq46(const Layer &l) {
  return l.Wv * l.moment * transpose(l.Wk) * pseudo_inverse(l.Wk * l.moment * transpose(l.Wk));
}

/// Wv E Wk^+ Wk E^{-1} Wk^+, Eq 48 as printed.
inline Dense optimum_eq48(const Layer &l) {
  const Dense plus = pseudo_inverse(l.Wk);
  return l.Wv * l.moment * plus * l.Wk * inverse(l.moment) * plus;
}

/// The S that minimises sum_i |S k_i - v_i|^2, of least norm, by the singular values of the keys themselves.
inline Dense least_squares(const Dense &keys, const Dense &values) { return transpose(pseudo_inverse(keys) * values); }

/// Rounding units by which two of these forms may part: products over n rows, with the squared condition number of the
/// keys that their normal equations have.
inline double optimum_conditioning(const Dense &keys, const Dense &values) {
  const std::vector<double> s = singular_values(keys);
  return 4.0 * keys.rows * std::pow(s.front() / s[std::min(keys.rows, keys.columns) - 1], 2) * frobenius_norm(values) /
         s.back();
}

} // namespace recollect::theory
