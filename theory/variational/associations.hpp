// SPDX-License-Identifier: Apache-2.0
// One pass of VLA or of recursive least squares over a set of pairs, and the batch solutions with which 004 compares
// both.
#pragma once
#include "theory/variational/vla_steps.hpp"

namespace recollect::theory {
/// The first m rows.
inline Dense first_rows(const Dense &rows, int m) { return rows_of(rows.data, m, rows.columns); }

struct Pairs {
  Dense K, V; // one row per pair: [n,d], [n,dv]
  int n() const { return K.rows; }
  Vector k(int i) const { return row(K.data, i, K.columns); }
  Vector v(int i) const { return row(V.data, i, V.columns); }
  Pairs first(int m) const { return {first_rows(K, m), first_rows(V, m)}; }
};

/// Random pairs: keys uniform on the sphere, values N(0,1).
inline Pairs unit_pairs(int n, int d, int dv, Seed seed, const std::string &name) {
  return {Dense(n, d, random_units(n, d, Stream(seed, name + "/keys"))), normal_matrix(n, dv, seed, name + "/values")};
}
/// Pairs with orthonormal keys, n <= d: random keys, orthonormalised by a Cholesky factor. The second pass removes
/// rounding errors.
inline Pairs orthonormal_pairs(int n, int d, int dv, Seed seed, const std::string &name) {
  Pairs x = unit_pairs(n, d, dv, seed, name);
  for (int pass = 0; pass < 2; ++pass) x.K = inverse(cholesky(x.K * transpose(x.K))) * x.K;
  return x;
}

/// Writes every pair once. The rows of U are the penalty directions. The last step is a separate call, so that `a` of
/// the result is the write direction of this step.
inline Vla written(const Pairs &x, const Dense &U, double lambda0, const std::string &layer = "vla") {
  const int d = x.K.columns, last = x.n() - 1;
  Vla memory(d, x.V.columns, lambda0, {{"refresh", "0"}}, layer);
  if (last > 0) memory.run(x.first(last).K.data, first_rows(U, last).data, x.first(last).V.data);
  memory.step(x.k(last), row(U.data, last, d), x.v(last));
  return memory;
}

/// S of the registry's recursive least squares after these pairs.
inline Dense least_squares_state(const Pairs &x, double ridge) {
  const Sequence s = stored({1, 1, x.n(), x.K.columns, x.V.columns}, x.K.data, x.V.data);
  return memory(run("rls", s, {{"ridge", number(ridge)}}), s.shape);
}

/// lambda0 I + sum u u^T.
inline Dense penalty(const Dense &U, double lambda0) { return lambda0 * Dense::identity(U.columns) + transpose(U) * U; }
/// V K^T (K K^T + M)^{-1} with columns of keys (004 Eq 17): the printed minimiser of |V - S K|^2 + tr(S M S^T).
inline Dense closed_form(const Pairs &x, const Dense &M) {
  return transpose(x.V) * x.K * inverse(transpose(x.K) * x.K + M);
}
/// The same minimiser without normal equations: least squares on the pairs and on d more rows, the rows of a square
/// root of M, with values of 0.
inline Dense minimiser(const Pairs &x, const Dense &M) {
  const Dense root = transpose(cholesky(M)); // M = root^T root
  Dense design(x.n() + M.rows, M.rows), values(x.n() + M.rows, x.V.columns);
  std::copy(x.K.data.begin(), x.K.data.end(), design.data.begin());
  std::copy(root.data.begin(), root.data.end(), design.data.begin() + x.K.data.size());
  std::copy(x.V.data.begin(), x.V.data.end(), values.data.begin());
  return transpose(pseudo_inverse(design) * values);
}

/// Bound on the rounding errors of states and reads after these pairs, in units of eps.
inline double pair_units(const Pairs &x, double lambda0) {
  return step_units(x.n(), x.K.columns, lambda0) * (1 + max_abs(x.V.data));
}
} // namespace recollect::theory
