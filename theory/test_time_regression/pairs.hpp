// SPDX-License-Identifier: Apache-2.0
// Vignettes 1 to 3 of 003 as matrices: K [t,Dk] and V [t,Dv] hold keys and values as rows, M [Dv,Dk] is the memory.
#pragma once
#include "harness/numerics/keys.hpp"
#include "theory/support/one_head.hpp"
#include "theory/support/stored.hpp"

namespace recollect::theory {
struct Pairs {
  Dense K, V;
  /// N(0,1) keys and values.
  Pairs(const Shape &shape, Seed seed)
      : K(normal_matrix(shape.T, shape.Dk, seed, "003/keys")), V(normal_matrix(shape.T, shape.Dv, seed, "003/values")) {
  }
  Pairs(Dense K, Dense V) : K(std::move(K)), V(std::move(V)) {}

  Dense gram() const { return transpose(K) * K; }
  Dense cross() const { return transpose(V) * K; } // linear attention
  Dense best() const { return transpose(V) * transpose(pseudo_inverse(K)); }
  Dense key(int i) const { return column(K.data, i, K.columns); }
  Dense value(int i) const { return column(V.data, i, V.columns); }
  /// The pairs [from, to).
  Pairs some(int from, int to) const {
    const auto rows = [=](const Dense &m) {
      const auto start = m.data.begin();
      return Dense(to - from, m.columns, {start + size_t(from) * m.columns, start + size_t(to) * m.columns});
    };
    return {rows(K), rows(V)};
  }
  /// The same pairs as one head, read at `queries` [t,Dk].
  Sequence sequence(const Dense &queries) const {
    Sequence s = of_shape({1, 1, K.rows, K.columns, V.columns});
    s.q = queries.data, s.k = K.data, s.v = V.data;
    return s;
  }
  Sequence sequence() const { return sequence(K); }
};

/// The ratio of the largest to the smallest singular value.
inline double condition(const Dense &m) {
  const Vector s = singular_values(m);
  return s.front() / s.back();
}

/// Bound on the rounding error of a memory computed by solving with K^T K or K K^T, in units of eps: t Dk terms, times
/// the square of the condition number of K.
inline double solved_units(const Dense &K, const Dense &M) {
  return double(K.rows) * K.columns * std::pow(condition(K), 2) * std::max(1.0, max_abs(M.data));
}

/// [rows,columns] of orthonormal rows.
inline Dense orthonormal(int rows, int columns, Seed seed) {
  return {rows, columns, make_keys({"orthonormal", rows, columns}, 1, seed)};
}

/// t, Dk and Dv as parameters of a claim.
inline std::vector<ParamSpec> pair_params(const Shape &own) {
  return {integer_param("t", own.T, 1, 256, "pairs"), integer_param("Dk", own.Dk, 1, 64, "key width"),
          integer_param("Dv", own.Dv, 1, 64, "value width")};
}
} // namespace recollect::theory
