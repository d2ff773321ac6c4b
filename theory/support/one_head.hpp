// SPDX-License-Identifier: Apache-2.0
// Variants on one head, compared with a memory that is updated on the host: M_t [Dv,Dk], o_t = M_t q_t.
#pragma once
#include "harness/numerics/inputs.hpp"
#include "theory/support/layer_points.hpp"

namespace recollect::theory {
/// The first head of an array [B,H,T,width] as rows, and one of its steps as a column.
inline Dense rows_of(const std::vector<double> &array, int T, int width) {
  return {T, width, {array.begin(), array.begin() + size_t(T) * width}};
}
inline Dense column(const std::vector<double> &array, int t, int width) {
  return {width, 1, {array.begin() + size_t(t) * width, array.begin() + size_t(t + 1) * width}};
}
/// v k^T of two columns.
inline Dense write(const Dense &v, const Dense &k) { return v * transpose(k); }
inline double square(const Dense &m) { return inner(m.data, m.data); }

/// T, Dk and Dv as parameters of a claim, with the defaults `own`; and the shape of one head that these parameters
/// give.
inline std::vector<ParamSpec> one_head_params(const Shape &own) {
  return {integer_param("T", own.T, 2, 256, "steps"), integer_param("Dk", own.Dk, 2, 64, "key width"),
          integer_param("Dv", own.Dv, 1, 64, "value width")};
}
inline Params params_of(const Shape &shape) {
  return labels({{"T", num(shape.T)}, {"Dk", num(shape.Dk)}, {"Dv", num(shape.Dv)}});
}
inline Shape shape_of(const Params &p) { return {1, 1, p.integer("T"), p.integer("Dk"), p.integer("Dv")}; }

/// The point at which the identities of 003 and 004 are measured: unit keys and queries, N(0,1) values.
const Shape point_P{1, 1, 14, 5, 3};

/// N(0,1) queries, keys and values, from the streams name/queries, name/keys and name/values.
inline Sequence normal_sequence(const Shape &shape, std::uint64_t seed, const std::string &name) {
  const int rows = int(shape.heads()) * shape.T;
  Sequence s = of_shape(shape);
  s.q = normal_matrix(rows, shape.Dk, seed, name + "/queries").data;
  s.k = normal_matrix(rows, shape.Dk, seed, name + "/keys").data;
  s.v = normal_matrix(rows, shape.Dv, seed, name + "/values").data;
  return s;
}
/// Like normal_sequence(), but with unit queries and keys, beta in (0.1, 1) and lambda in (0.3, 1).
inline Sequence gated_sequence(const Shape &shape, std::uint64_t seed, const std::string &name) {
  Sequence s = normal_sequence(shape, seed, name);
  normalise_rows(s.q, shape.Dk), normalise_rows(s.k, shape.Dk);
  s.beta = Stream(seed, name + "/beta").uniforms(shape.T, 0.1, 1);
  s.lambda = Stream(seed, name + "/lambda").uniforms(size_t(shape.T) * shape.Dk, 0.3, 1);
  return s;
}
inline Dense diagonal(const Vector &values) {
  Dense d = Dense::identity(int(values.size()));
  for (int i = 0; i < d.rows; ++i) d(i, i) = values[i];
  return d;
}

inline Vector diagonal_of(const Dense &m) {
  Vector values(m.rows);
  for (int i = 0; i < m.rows; ++i) values[i] = m(i, i);
  return values;
}

/// The number of singular values above `least`.
inline int rank(const Dense &m, double least) {
  const Vector values = singular_values(m);
  return int(std::count_if(values.begin(), values.end(), [=](double s) { return s > least; }));
}

/// S of the head: the first Dv rows of the final state.
inline Dense memory(const Output &out, const Shape &shape) {
  return {shape.Dv, shape.Dk, {out.state.begin(), out.state.begin() + size_t(shape.Dv) * shape.Dk}};
}

/// The matrix [Dk,Dk] by which the layer's steps multiply a state from the right: the state after the steps if S starts
/// as I and all values are 0.
inline Dense transition(const std::string &variant, Sequence s, const Assignments &set = {}) {
  s.shape.Dv = s.shape.Dk, s.v.assign(s.k.size(), 0), s.state = Dense::identity(s.shape.Dk).data;
  return memory(run(variant, s, set), s.shape);
}

/// The reads and the last memory of M_t = step(M_{t-1}, k_t, v_t, t). M_0 is the sequence's state, or zero if it has
/// none.
template <class Step> Output stepped(const Sequence &s, Step step) {
  const Shape &shape = s.shape;
  Dense M(shape.Dv, shape.Dk);
  if (!s.state.empty()) M.data = s.state;
  Output out;
  for (int t = 0; t < shape.T; ++t) {
    M = step(M, column(s.k, t, shape.Dk), column(s.v, t, shape.Dv), t);
    const Dense read = M * column(s.q, t, shape.Dk);
    out.o.insert(out.o.end(), read.data.begin(), read.data.end());
  }
  out.state = M.data, out.state_shape = {shape.Dv, shape.Dk};
  return out;
}

/// Reads and memory that a layer computed on one sequence. `units` bounds, in units of eps, their rounding difference
/// from another way to compute them.
struct Measured {
  std::vector<double> values;
  double units = 0;
  /// `factor` multiplies the bound, for a reference with larger rounding errors.
  Point against(const std::vector<double> &reference, double factor = 1) const {
    return exact_point(values, reference, units * factor);
  }
  Point against(const Output &reference, double factor = 1) const {
    return against(results(reference, {1, 1, 1, reference.state_shape.columns, reference.state_shape.rows}), factor);
  }
};

inline Measured measured(const std::string &variant, const Sequence &s, const Assignments &set = {}) {
  return {results_of(variant, s, set), rounding_units(variant, s, set)};
}
} // namespace recollect::theory
