// SPDX-License-Identifier: Apache-2.0
// The vectors u_t of the layer delta_former (000 Eq 41), which the layer does not return. To read them, every step gets
// a further channel; e_t is the unit vector of the channel of step t:
//
//   k_t = (k_t, e_t),   w_t = (w_t, 0),   q_t = (0, e_t)
//
// This leaves kappa1 unchanged, and the linear read of Eq 42 gives o_t = u_t.
#pragma once
#include "theory/support/delta_recursion.hpp"
#include "theory/support/stored.hpp"

namespace recollect::theory {
/// [rows,columns] of unit vectors, drawn from the stream of this name.
inline Dense unit_rows(int rows, int columns, std::uint64_t seed, std::string_view stream) {
  Dense unit = normal_matrix(rows, columns, seed, stream);
  normalise_rows(unit.data, columns);
  return unit;
}

struct DeltaFormerRun {
  std::string kappa1 = "linear", form = "recurrent";
  int chunk = 16;
  Real real = Real::f64;
  double alpha = 1, beta = 1;
  Assignments more = {}; // further parameters of the layer
};

/// The u_t of a run, as rows. The sequence must have the channels described above, so that its reads are the u_t.
inline Dense u_of(const Sequence &s, const DeltaFormerRun &run) {
  Assignments set = run.more;
  set["kappa1"] = run.kappa1, set["kappa2"] = "linear";
  const Variant &layer = find_variant("delta_former");
  return {s.shape.T, s.shape.Dv, forward(layer, s, {run.form, run.real, run.chunk, variant_params(layer, set)}).o};
}

/// U [T,Dv] from k, w [T,d] and v [T,Dv].
inline Dense written(const Dense &k, const Dense &w, const Dense &v, const DeltaFormerRun &run = {}) {
  const int T = k.rows, d = k.columns, width = d + T;
  Sequence s = of_shape({1, 1, T, width, v.columns});
  s.k.assign(size_t(T) * width, 0.0), s.w = s.q = s.k, s.v = v.data;
  s.alpha.assign(T, run.alpha), s.beta.assign(T, run.beta);
  for (int t = 0; t < T; ++t) {
    const size_t row = size_t(t) * width;
    for (int c = 0; c < d; ++c) s.k[row + c] = k(t, c), s.w[row + c] = w(t, c);
    s.k[row + d + t] = s.q[row + d + t] = 1;
  }
  return u_of(s, run);
}

/// The last u alone, [1,Dv]. For this one further channel is enough, which is nonzero only in the last key.
inline Dense last_written(const Dense &k, const Dense &v, const std::string &kappa1) {
  const int T = k.rows, d = k.columns;
  Sequence s = of_shape({1, 1, T, d + 1, v.columns});
  s.k.assign(size_t(T) * (d + 1), 0.0), s.w = s.q = s.k, s.v = v.data;
  for (int t = 0; t < T; ++t) {
    for (int c = 0; c < d; ++c) s.k[size_t(t) * (d + 1) + c] = s.w[size_t(t) * (d + 1) + c] = k(t, c);
    s.q[size_t(t) * (d + 1) + d] = 1;
  }
  s.k.back() = 1;
  const Vector u = u_of(s, {kappa1}).data;
  return {1, v.columns, {u.end() - v.columns, u.end()}};
}

/// U = (I + A)^{-1} V for any strictly lower A. Keys are orthonormal, the kernel is linear, and w_t is row t of A; q_t
/// = k_t then reads u_t.
inline Dense written(const Dense &A, const Dense &v, const DeltaFormerRun &run = {}) {
  Sequence s = of_shape({1, 1, A.rows, A.rows, v.columns});
  s.k = s.q = Dense::identity(A.rows).data, s.w = A.data, s.v = v.data;
  s.alpha.assign(A.rows, run.alpha), s.beta.assign(A.rows, run.beta);
  return u_of(s, run);
}

/// Points where Assumption 2 of Theorem 1 requires f(x) = x.
inline const Vector integers{-1, 0, 1, 2};

/// The layer's f of Assumption 2 at each x: with k_1 = 1, w_2 = x, v_1 = 1 and v_2 = 0 it has u_2 = -f(k_1 . w_2).
inline Vector similarity_of_layer(const Vector &x, const std::string &kappa1, Assignments more = {}) {
  Sequence s = of_shape({1, int(x.size()), 2, 2, 1});
  for (double of : x) {
    const double k[] = {1, 0, 0, 1}, w[] = {0, 0, of, 0}, q[] = {0, 0, 0, -1}, v[] = {1, 0};
    s.k.insert(s.k.end(), k, k + 4), s.w.insert(s.w.end(), w, w + 4), s.q.insert(s.q.end(), q, q + 4);
    s.v.insert(s.v.end(), v, v + 2);
  }
  more["kappa1"] = kappa1, more["kappa2"] = "linear";
  const Vector o = run("delta_former", s, more).o;
  Vector f;
  for (size_t head = 0; head < x.size(); ++head) f.push_back(o[2 * head + 1]);
  return f;
}

/// Bound, in units of eps, on the rounding difference between two computations of U = (I + A)^{-1} V with n rows: the
/// largest element of U times n |(I + A)^{-1}| |I + A| (000 Eq 51).
inline double solve_units(const Dense &A, const Dense &U) {
  const Dense system = Dense::identity(A.rows) + A;
  return 4.0 * A.rows * frobenius_norm(inverse(system)) * frobenius_norm(system) * max_abs(U.data);
}
} // namespace recollect::theory
